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
const crashPoints = [
  'after-accept',
  'after-claim',
  'after-mark',
  'after-send',
  'before-record',
  'after-record',
];
const wantedAccepted = 2_000;
const wantedKills = 24;

describe('test/faults/lanes', () => {
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
  const lines = (name: string): string[] =>
    existsSync(ledger(name)) ? readFileSync(ledger(name), 'utf8').split('\n').filter(Boolean) : [];

  function startNode(given: Record<string, string>): ChildProcess {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'node.ts')], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: test.url,
        CLIENT_LEDGER: ledger('client'),
        PROVIDER_LEDGER: ledger('provider'),
        LANES: lanes,
        LEASE_MS: String(leaseMs),
        ...given,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  }
  const exited = (child: ChildProcess): Promise<string> =>
    new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? String(code))));

  /** One life of a node, until its crash point or a kill. Before that some are frozen for longer than their lease. */
  async function life(n: number): Promise<string> {
    const point = crashPoints[n % crashPoints.length] ?? '';
    const atPoint = n % 4 !== 3;
    const child = startNode(
      atPoint ? { SVC_CRASH_AT: `${point}:${2 + Math.floor(Math.random() * 60)}` } : {},
    );
    const end = exited(child);
    // Counted from when it takes requests, so that on a slow machine a node does something before it dies.
    await Promise.race([end, new Promise((resolve) => child.stdout?.once('data', resolve))]);
    if (n % 8 === 7) {
      await sleep(1_500);
      child.kill('SIGSTOP');
      await sleep(leaseMs * 1.5);
      child.kill('SIGCONT');
    }
    const killAfterMs = atPoint ? 4_000 : 600 + Math.random() * 1_200;
    await Promise.race([end, sleep(killAfterMs)]);
    child.kill('SIGKILL');
    return end;
  }

  it('loses nothing, does nothing twice and leaves nothing behind when nodes die at every step', async () => {
    let started = 0;
    const deaths: string[] = [];
    const run = async (): Promise<void> => {
      while (deaths.length < wantedKills || lines('client').length < wantedAccepted)
        deaths.push(await life(started++));
    };
    await Promise.all([run(), run()]);
    const accepted = lines('client');
    expect(deaths.filter((death) => death === 'SIGKILL').length).toBeGreaterThanOrEqual(wantedKills);
    expect(accepted.length).toBeGreaterThanOrEqual(wantedAccepted);

    const last = startNode({ ACCEPT: 'no' });
    await until('nothing is left', async () => (await count(test.database, 'work')) === 0, 30_000);
    await until(
      'the lanes of dead nodes are gone',
      async () => (await count(test.database, "lane WHERE kind = 'node'")) === 0,
    );
    const end = exited(last);
    last.kill('SIGTERM');
    expect(await end).toBe('0');

    const effects = lines('provider').map((line) => line.split('\t'));
    const times = Map.groupBy(effects, ([operationId]) => operationId);
    const rows = await test.database.raw('SELECT id, status, failed, unknown FROM operation');
    const byId = new Map(rows.map((row) => [row['id'] as string, row]));
    const wrong = {
      lost: accepted.filter((id) => !byId.has(id)),
      stuck: rows.filter((row) => row['status'] === 'in_progress'),
      duplicates: [...times].filter(([, found]) => found.length > 1),
      falseSuccess: rows.filter((row) => row['status'] === 'success' && !times.has(row['id'] as string)),
      falseFailure: rows.filter((row) => Number(row['failed']) > 0 && times.has(row['id'] as string)),
      outOfOrder: outOfOrder(effects),
    };
    expect(wrong).toEqual({
      lost: [],
      stuck: [],
      duplicates: [],
      falseSuccess: [],
      falseFailure: [],
      outOfOrder: [],
    });
    const unknown = rows.filter((row) => Number(row['unknown']) > 0).length;
    if (process.env['SHOW_FAULTS']) {
      const figures = {
        accepted: accepted.length,
        operations: rows.length,
        effects: effects.length,
        unknown,
        deaths: deaths.length,
      };
      process.stdout.write(`${JSON.stringify(figures)}\n`);
    }
    // At most the items of one node at its death: twenty in each of three lanes, and one synchronous write.
    expect(unknown).toBeLessThanOrEqual(deaths.length * 61);
    expect(unknown).toBeLessThan(rows.length / 2);
    expect(await count(test.database, 'turn')).toBe(0);
  }, 120_000);
});

/** Effects of one key must stand in the order in which their caller sent them. */
function outOfOrder(effects: readonly string[][]): string[] {
  const last = new Map<string, number>();
  return effects.flatMap(([, key = '', n = '']) => {
    if (key === '' || Number(key.split('-')[1]) % 2 !== 0) return [];
    const before = last.get(key) ?? -1;
    last.set(key, Number(n));
    return Number(n) > before ? [] : [`${key}: ${n} after ${before}`];
  });
}
