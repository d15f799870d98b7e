import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { count, until } from '../../src/operations/harness.fixture.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';

const leaseMs = 1_500;
/** Each with the most passes after which a life ends there. */
const crashPoints: [string, number][] = [
  ['after-slots', 60],
  ['after-seal', 4],
  ['after-accept', 60],
  ['after-claim', 4],
  ['after-mark', 4],
  ['before-record', 4],
];
const wantedLives = 24;
const wantedAccepted = 4_000;

interface Row {
  operation: string;
  slot: number;
  tag: string;
  kind: string | null;
}

describe('test/faults/auto-batch', () => {
  let test: TestDatabase;
  let folder: string;
  const children = new Set<ChildProcess>();

  beforeEach(async () => {
    test = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), 'svc-faults-'));
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await test.drop();
    rmSync(folder, { recursive: true });
  });

  const lanes = Array.from({ length: 3 }, () => randomUUID()).join(',');
  const ledger = (name: string): string => join(folder, name);
  const lines = (name: string): string[][] =>
    existsSync(ledger(name))
      ? readFileSync(ledger(name), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split('\t'))
      : [];

  function startNode(given: Record<string, string>): ChildProcess {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'auto-batch-node.ts')], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: test.url,
        CLIENT_LEDGER: ledger('client'),
        PROVIDER_LEDGER: ledger('provider'),
        LANES: lanes,
        LEASE_MS: String(leaseMs),
        ...given,
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  }
  const exited = (child: ChildProcess): Promise<string> =>
    new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? String(code))));

  /** One life of a node, until its crash point or a kill. Before that some are frozen, and some lose all their connections. */
  async function life(n: number, [point, most]: [string, number]): Promise<string> {
    const atPoint = n % 4 !== 3;
    const child = startNode(
      atPoint ? { SVC_CRASH_AT: `${point}:${1 + Math.floor(Math.random() * most)}` } : {},
    );
    const end = exited(child);
    // Its time begins when it works: a start takes long on a busy machine.
    await Promise.race([end, new Promise((resolve) => child.once('message', resolve))]);
    if (!atPoint) await sleep(500);
    if (n % 8 === 3) {
      await test.database.raw(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc fault node'",
      );
    }
    if (n % 8 === 7) {
      child.kill('SIGSTOP');
      await sleep(leaseMs * 1.5);
      child.kill('SIGCONT');
    }
    const killed = sleep(atPoint ? 5_000 : 600 + Math.random() * 1_200).then(() => 'killed');
    const how = await Promise.race([end, killed]);
    child.kill('SIGKILL');
    await end;
    return how === 'SIGKILL' ? point : 'killed';
  }

  it('loses nothing, doubles nothing and leaves nothing open when nodes die while they gather and seal', async () => {
    let started = 0;
    const deaths: string[] = [];
    const times = ([point]: [string, number]): number => deaths.filter((death) => death === point).length;
    const rarest = (): [string, number] =>
      crashPoints.toSorted((a, b) => times(a) - times(b) || Math.random() - 0.5)[0] ?? ['', 1];
    const over = (): boolean =>
      deaths.length >= wantedLives && times(rarest()) >= 2 && lines('client').length >= wantedAccepted;
    const run = async (): Promise<void> => {
      while (!over()) deaths.push(await life(started++, rarest()));
    };
    await Promise.all([run(), run()]);
    const accepted = lines('client');
    expect(accepted.length).toBeGreaterThanOrEqual(wantedAccepted);

    const last = startNode({ ACCEPT: 'no' });
    await until(
      'no batch is open and nothing is left to do',
      async () => (await count(test.database, 'ab_batch')) + (await count(test.database, 'work')) === 0,
      30_000,
    );
    const end = exited(last);
    last.kill('SIGTERM');
    expect(await end).toBe('0');

    const rows = (await test.database.raw(
      "SELECT operation_id AS operation, slot, payload->>'tag' AS tag, outcome->>'kind' AS kind FROM record ORDER BY operation_id, slot",
    )) as unknown as Row[];
    const effects = lines('provider');
    expect(wrongs(accepted, rows, effects)).toEqual({
      lost: [],
      toldAnother: [],
      doubled: [],
      over: [],
      withoutOutcome: [],
      sentTwice: [],
      falseSuccess: [],
      falseFailure: [],
      outOfOrder: [],
    });
    expect(await count(test.database, "operation WHERE status = 'in_progress' OR total = 0")).toBe(0);
    expect(await count(test.database, 'turn')).toBe(0);
    const full = [...Map.groupBy(rows, (row) => row.operation).values()].filter((all) => all.length === 100);
    if (process.env['SHOW_FAULTS']) {
      const figures = { accepted: accepted.length, records: rows.length, effects: effects.length };
      const batches = new Set(rows.map((row) => row.operation)).size;
      process.stdout.write(`${JSON.stringify({ ...figures, batches, full: full.length, deaths })}\n`);
    }
    // Some batches left because they were full.
    expect(full.length).toBeGreaterThan(0);
  }, 240_000);
});

/** The contradictions between the three ledgers. */
function wrongs(accepted: string[][], rows: Row[], effects: string[][]): Record<string, unknown[]> {
  const byTag = Map.groupBy(rows, (row) => row.tag);
  const sent = Map.groupBy(effects, ([, tag = '']) => tag);
  return {
    lost: accepted.filter(([, tag = '']) => !byTag.has(tag)),
    toldAnother: accepted.filter(([id, tag = '']) => byTag.get(tag)?.some((row) => row.operation !== id)),
    doubled: [...byTag].filter(([, found]) => found.length > 1),
    over: [...Map.groupBy(rows, (row) => row.operation)].filter(([, all]) => all.length > 100),
    withoutOutcome: rows.filter((row) => row.kind === null),
    sentTwice: [...sent].filter(([, found]) => found.length > 1),
    falseSuccess: rows.filter((row) => row.kind === 'applied' && !sent.has(row.tag)),
    falseFailure: rows.filter((row) => row.kind === 'notApplied' && sent.has(row.tag)),
    outOfOrder: [
      ...outOfOrder(effects.map(([, tag = '']) => tag)),
      ...outOfOrder(
        rows.map((row) => row.tag),
        rows,
      ),
    ],
  };
}

/** Tags of one caller must stand in the order in which it sent them: at the provider, for those of one record, and in each batch. */
function outOfOrder(tags: readonly string[], rows?: readonly Row[]): string[] {
  const last = new Map<string, number>();
  return tags.flatMap((tag, at) => {
    const [pid = '', client = '', n = ''] = tag.split('-');
    if (!rows && Number(client) % 2 !== 0) return [];
    const key = `${pid}-${client} ${rows?.[at]?.operation ?? ''}`;
    const before = last.get(key) ?? -1;
    last.set(key, Number(n));
    return Number(n) > before ? [] : [`${tag} after ${before}`];
  });
}
