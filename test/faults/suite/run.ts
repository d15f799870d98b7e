import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/kit/db/database.ts';
import { simulator } from '../../customer.ts';
import { createClientLedger, runCaller, type Tally } from './callers.ts';
import { createChaos, type Chaos, type Deeds } from './chaos.ts';
import { hang, setFaults } from './provider-faults.ts';
import { createProviderLedger, type ProviderLedger } from './provider-ledger.ts';
import { patiently } from './processes.ts';
import { lateEffectMs, leaseMs, type Settings } from './settings.ts';
import { openStage, type Stage } from './stage.ts';
import { describeMarker, judge, type RecordState, type Verdict } from './verdict.ts';
import { createCaller, deletionOf, markersIn } from './workload.ts';

export interface Outcome {
  verdict: Verdict;
  deeds: Deeds;
  tally: Tally;
  /** Writes that were refused and not sent again. */
  givenUp: number;
  faults: Record<string, number>;
  providerCalls: number;
  seconds: number;
  /** Why work was left, if it was. */
  left: string[];
  /** The first violations of each kind. */
  details: string[];
}

export interface RunOptions {
  settings: Settings;
  /** The sources that the nodes run, if not this checkout's. */
  sources?: string;
  say: (line: string) => void;
  /** Asked every second while there is load, with the number of requests accepted so far. */
  observe?: (stage: Stage, accepted: number) => Promise<void>;
  /** What is done beside the writes, until `over`; nothing unless given. */
  beside?: (stage: Stage, over: () => boolean) => Promise<void>;
  /** Told how to end everything at once, as soon as there is something to end. */
  onOpen?: (close: () => Promise<void>) => void;
}

/** Work is stuck when, the faults being over, none of it has ended for so long. */
const stuckAfterMs = 90_000;

/** One run: load and faults, then quiet until all work has ended, then the oracles. */
export async function runFaults(options: RunOptions): Promise<Outcome> {
  const { settings, sources, say, onOpen } = options;
  const startedAt = performance.now();
  const stage = await openStage(settings, sources, onOpen);
  try {
    say('ready');
    const providers = [createProviderLedger(stage.hubspot), createProviderLedger(stage.salesforce)];
    const { client, tally, chaos } = await disturb(stage, settings, providers, options);
    // Late effects at the providers have happened by then.
    await sleep(2 * settings.providerCallMs + lateEffectMs);
    const left = await drain(stage, say);
    // The platform is asked first: what it reports as done must be at the provider by then.
    const records = await readRecords(stage.database);
    await readAll(providers);
    say('drained; comparing the ledgers');
    const evidence = {
      accepted: client.read(),
      records,
      givenUp: client.givenUp,
      effects: providers.flatMap(({ effects }) => effects),
      lostAnswers: new Set(providers.flatMap(({ lost }) => [...lost])),
      asked: new Map(providers.flatMap(({ asked }) => [...asked])),
      disturbances: chaos.disturbances,
      answerMs: settings.providerCallMs + leaseMs,
      left: left.length,
    };
    const verdict = judge(evidence);
    client.close();
    return {
      verdict,
      deeds: chaos.deeds,
      tally,
      givenUp: client.givenUp.size,
      faults: sum(providers.map(({ faults }) => faults)),
      providerCalls: providers.reduce((total, { calls }) => total + calls, 0),
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      left,
      details: Object.entries(verdict.violations).flatMap(([name, markers]) =>
        [...new Set(markers)].slice(0, 5).map((marker) => `${name} ${describeMarker(marker, evidence)}`),
      ),
    };
  } finally {
    await stage.close();
  }
}

async function disturb(
  stage: Stage,
  settings: Settings,
  providers: readonly ProviderLedger[],
  { say, observe, beside }: RunOptions,
): Promise<{ client: ReturnType<typeof createClientLedger>; tally: Tally; chaos: Chaos }> {
  const addFaults = async (): Promise<void> => {
    await setFaults(stage.hubspot, 'hubspot', settings);
    await setFaults(stage.salesforce, 'salesforce', settings);
  };
  await addFaults();
  const client = createClientLedger(join(stage.folder, 'accepted.jsonl'));
  const tally: Tally = { unanswered: 0, replayed: 0, refused: {} };
  const end = new AbortController();
  const over = (): boolean => end.signal.aborted;
  const chaos = createChaos({
    settings,
    nodes: stage.nodes,
    wires: stage.wires,
    outage: async (forMs) => {
      await hang(stage.salesforce);
      await sleep(forMs);
      await addFaults();
    },
    terminate: () => terminate(stage.database),
    read: () => readForLong(stage.database),
    jump: (byMs) => patiently(() => setAhead(stage.database, byMs)),
    ...(stage.crashDatabase ? { crashDatabase: stage.crashDatabase } : {}),
    over,
  });
  const surface = { ...stage, nodes: stage.nodes.map(({ base }) => base) };
  const startedAt = performance.now();
  const watch = async (): Promise<void> => {
    for (let turn = 1; !over(); turn += 1) {
      await sleep(1_000);
      if (turn % 5 === 0) await readAll(providers);
      if (turn % 10 === 0) say(`${client.accepted} accepted, ${chaos.deeds.kills} kills`);
      await observe?.(stage, client.accepted);
      const passed = performance.now() - startedAt >= (settings.minutes ?? 0) * 60_000;
      if (passed && client.accepted >= settings.writes && chaos.enough()) end.abort();
    }
  };
  const callers = Array.from({ length: settings.callers }, (_, at) => {
    const caller = createCaller(at, settings, stage.seeded);
    return runCaller(caller, surface, client, tally, over, settings.pauseMs);
  });
  try {
    await Promise.all([...callers, chaos.run(), watch(), beside?.(stage, over)]);
  } finally {
    end.abort();
  }
  return { client, tally, chaos };
}

/** Whether it came to its end: it is cut short when the connections are ended, or the server is. */
async function readForLong(database: Database): Promise<boolean> {
  const tables = await patiently(() =>
    database.raw(`SELECT string_agg(oid::regclass::text, ', ') AS names FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`),
  );
  const text = `BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE ${String(tables[0]?.['names'])} IN ACCESS SHARE MODE;
    SELECT count(*) FROM record; SELECT pg_sleep(15); COMMIT`;
  return database.raw(text).then(
    () => true,
    () => false,
  );
}

function setAhead(database: Database, byMs: number): Promise<unknown> {
  return database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 millisecond'`, [byMs]);
}

async function terminate(database: Database): Promise<void> {
  await database
    .raw(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    .catch(() => undefined);
}

const ballast = '00000000-0000-0000-0000-000000000000';

/** Waits, without faults, until all work has ended. While nothing is under way the clock is shifted. Returns what is stuck. */
export async function drain(
  { hubspot, salesforce, database }: Pick<Stage, 'hubspot' | 'salesforce' | 'database'>,
  say: RunOptions['say'],
): Promise<string[]> {
  for (const url of [hubspot, salesforce]) await simulator(url, 'DELETE', '/faults');
  const beganAt = performance.now();
  let [fewest, fewestAt] = [Infinity, beganAt];
  for (;;) {
    const left = await patiently(() => whatIsLeft(database));
    const now = performance.now();
    if (fewest === Infinity) say(`${left.length} left when the load was over`);
    if (left.length < fewest) [fewest, fewestAt] = [left.length, now];
    const isStuck = now - fewestAt > stuckAfterMs;
    if (isStuck) say(`stuck in ${JSON.stringify(await patiently(() => busyLanes(database)))}`);
    if (left.length === 0 || isStuck) {
      say(`waited ${Math.round((now - beganAt) / 1_000)} s, ${left.length} left`);
      return left;
    }
    await patiently(() => passTime(database));
    await sleep(500);
  }
}

/** Lanes with work, for who asks why it does not go on. */
function busyLanes(database: Database): Promise<Record<string, unknown>[]> {
  return database.raw(
    `SELECT w.lane_id, w.state, w.kind, count(*), min(w.due_at) AS due_at, l.due_at AS lane_due_at, l.not_before, l.lease,
      l.paused, l.wakes, svc_now() AS now
    FROM work w LEFT JOIN lane l ON l.project_id = w.project_id AND l.id = w.lane_id
    WHERE w.project_id <> $1 GROUP BY w.lane_id, w.state, w.kind, l.project_id, l.id ORDER BY count(*) DESC LIMIT 10`,
    [ballast],
  );
}

async function whatIsLeft(database: Database): Promise<string[]> {
  const rows = await database.raw(
    `SELECT 'work ' || state || ' due ' || due_at AS what FROM work WHERE project_id <> $1
    UNION ALL SELECT 'open batch, closes ' || close_at FROM ab_batch WHERE project_id <> $1
    UNION ALL SELECT 'turn ' || order_key FROM turn WHERE project_id <> $1
    UNION ALL SELECT 'operation ' || id FROM operation WHERE status = 'in_progress'`,
    [ballast],
  );
  return rows.map(({ what }) => String(what));
}

/** A minute, if all that is left waits for its time. */
async function passTime(database: Database): Promise<void> {
  await database.raw(
    `UPDATE clock SET shift = shift + interval '1 minute'
    WHERE NOT EXISTS (SELECT FROM work WHERE project_id <> $1 AND (state = 1 OR due_at <= svc_now() + interval '1 second'))
      AND NOT EXISTS (SELECT FROM wake WHERE project_id <> $1 AND due_at <= svc_now())
      AND NOT EXISTS (SELECT FROM ab_batch WHERE project_id <> $1 AND close_at <= svc_now() + interval '3 seconds')`,
    [ballast],
  );
}

export async function readAll(providers: readonly ProviderLedger[]): Promise<void> {
  await Promise.all(providers.map((provider) => provider.read()));
}

/** What the platform reports on each record of the workload. */
export async function readRecords(database: Database): Promise<RecordState[]> {
  const records: RecordState[] = [];
  let after = ballast;
  for (;;) {
    const rows = await patiently(() =>
      database.raw(
        `SELECT o.id, o.status, o.resource, o.request->>'type' AS type, r.payload::text AS payload, r.outcome->>'kind' AS kind, r.record_id,
          r.outcome->'failure'->>'message' AS message
        FROM (SELECT * FROM operation WHERE id > $1 ORDER BY id LIMIT 2000) o
        LEFT JOIN record r ON r.project_id = o.project_id AND r.operation_id = o.id ORDER BY o.id`,
        [after],
      ),
    );
    const last = rows.at(-1)?.['id'] as string | undefined;
    if (last === undefined) return records;
    after = last;
    for (const row of rows) {
      const [marker] =
        row['type'] === 'delete'
          ? [deletionOf(String(row['resource']), idIn(row['payload']))]
          : markersIn(String(row['payload']));
      if (marker === undefined) continue;
      records.push({
        operationId: String(row['id']),
        marker,
        status: String(row['status']),
        kind: row['kind'] as RecordState['kind'],
        recordId: row['record_id'] as string | null,
        message: row['message'] as string | null,
      });
    }
  }
}

function idIn(payload: unknown): string {
  return String((JSON.parse(String(payload)) as { id?: string }).id);
}

function sum(all: readonly Record<string, number>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const one of all)
    for (const [name, count] of Object.entries(one)) total[name] = (total[name] ?? 0) + count;
  return total;
}
