import { Problem } from '../../src/kit/problem.ts';
import { sleep } from '../../src/kit/retry.ts';
import { batchKeyOf, type AutoBatchIntake } from '../../src/actions/write/auto-batch/places.ts';
import type { TestDatabase } from '../database.ts';
import { createBatchWorld, endOf, moveClock, sealDue, type BatchWorld } from './auto-batch-world.ts';
import { createLossyGatherer, type LateStatements, type LossyGatherer, type Loss } from './lossy-gatherer.ts';

/** What a caller was told of its record. `accepted` and `replayed` name where it stands, `inDoubt` where it may stand. */
type Told = { what: 'accepted' | 'replayed' | 'inDoubt' | 'refused'; operationId?: string };

interface Call {
  /** Its record says so, too. */
  number: string;
  orderKey: string;
  batchKey: string;
  key: string | undefined;
  /** When it arrived, and when its caller was told, in the order of what happened. */
  tick: number;
  toldAt: number;
  told: Told;
}

/** Two nodes that accept changes of few records, while the answers of the database are lost. */
export interface DoubtWorld {
  batches: BatchWorld;
  late: LateStatements;
  nodes: [LossyGatherer, LossyGatherer];
  calls: Call[];
  /** What goes on: a statement that is late keeps others waiting. */
  under: Set<Promise<void>>;
}

export function createDoubtWorld({ database }: TestDatabase, late: LateStatements): DoubtWorld {
  return {
    batches: createBatchWorld(database),
    late,
    nodes: [createLossyGatherer(database, late), createLossyGatherer(database, late)],
    calls: [],
    under: new Set(),
  };
}

export interface Arrival {
  node: 0 | 1;
  /** Those with other headers share no batch. */
  header: string;
  record: number;
  /** Of the caller, for one request however often it comes. */
  key: string | undefined;
  losses: readonly Loss[];
}

/** Goes on until the caller is told; nobody waits for that. */
export function arrive(world: DoubtWorld, { node, header, record, key, losses }: Arrival): void {
  const { batches, calls, nodes } = world;
  const number = String(calls.length);
  const orderKey = `record ${record}`;
  const intake: AutoBatchIntake = {
    ...batches.common,
    request: { ...batches.common.request, headers: [{ key: 'x-of', value: header }] },
    record: { fields: {}, reference: number },
    orderKey,
    maxDelaySeconds: 60,
    ...(key === undefined ? {} : { key: { principal: 'caller', key, hash: Buffer.alloc(32) } }),
  };
  const tick = (batches.tick += 1);
  const call: Call = {
    number,
    orderKey,
    batchKey: batchKeyOf(intake),
    key,
    tick,
    toldAt: Infinity,
    told: { what: 'refused' },
  };
  calls.push(call);
  nodes[node].losses.push(...losses);
  const telling = nodes[node].gatherer.accept(intake).then(
    ({ operationId, replayed }): Told => ({ what: replayed ? 'replayed' : 'accepted', operationId }),
    (error: unknown) => toldBy(error, key),
  );
  goOn(
    world,
    telling.then((told) => void Object.assign(call, { told, toldAt: (batches.tick += 1) })),
  );
}

/**
 * What an error tells by its code (`docs/contract.md`, 503): nothing was done, but to who sent a key, whose repetition finds out.
 */
function toldBy(error: unknown, key: string | undefined): Told {
  if (!(error instanceof Problem)) throw error;
  const operationId = error.details.extra?.['operationId'];
  if (error.code === 'outcome-unknown' && typeof operationId === 'string')
    return { what: 'inDoubt', operationId };
  if (error.code !== 'database-unavailable') throw error;
  return { what: key === undefined ? 'refused' : 'inDoubt' };
}

export function sealSometime(world: DoubtWorld): void {
  if (world.under.size === 0) goOn(world, sealDue(world.batches));
}

function goOn({ under }: DoubtWorld, work: Promise<void>): void {
  const going: Promise<void> = work.finally(() => under.delete(going));
  under.add(going);
}

export const elapse = (world: DoubtWorld, ms: number): Promise<void> => moveClock(world.batches, ms);

/** Once nothing is late and everybody was told: what was told must be so. */
export async function endOfDoubt(world: DoubtWorld): Promise<string[]> {
  const { batches, calls, under, late } = world;
  // Those who heard nothing try again before what is late goes on.
  if (under.size > 0) await sleep(350);
  while (under.size > 0) {
    await late.letGo();
    await Promise.race([...under, sleep(10)]);
  }
  await late.letGo();
  const rows = (await batches.database.raw(
    'SELECT reference, operation_id AS "operationId", slot, entry FROM record WHERE project_id = $1',
    [batches.common.projectId],
  )) as unknown as Stored[];
  const stored = Map.groupBy(rows, ({ reference }) => reference);
  for (const call of calls) follow(batches, call, stored.get(call.number) ?? []);
  return [
    ...calls.flatMap((call) => untrue(call, stored.get(call.number) ?? [])),
    ...keysOf(calls, stored),
    ...(await endOf(batches)),
  ];
}

interface Stored {
  reference: string;
  operationId: string;
  slot: number;
  entry: string;
}

/** Has the rules of batches look at it, where it was accepted. */
function follow({ arrivals, accepted }: BatchWorld, call: Call, [first]: readonly Stored[]): void {
  if (call.told.what !== 'accepted' || !first) return;
  const { orderKey, tick, toldAt, batchKey, number } = call;
  arrivals.set(first.entry, { orderKey, tick });
  const told = { batchId: String(call.told.operationId), slot: first.slot, key: batchKey };
  accepted.set(first.entry, { ...told, number: Number(number), tick: toldAt });
}

function untrue({ number, told, key }: Call, rows: readonly Stored[]): string[] {
  const named = rows.filter(({ operationId }) => operationId === told.operationId).length;
  const says = (text: string): string[] => [`${number} was ${told.what}, and ${text}`];
  if (rows.length > 1) return says(`stands in ${rows.length} places`);
  if (told.what === 'accepted' && named !== 1) return says('does not stand where that was said');
  if (told.what === 'refused' && rows.length > 0) return says('is stored');
  if (told.what === 'inDoubt' && key === undefined && named !== rows.length)
    return says('stands elsewhere than was said');
  return [];
}

/** A key stands for one record, and whoever comes with it is told of that. */
function keysOf(calls: readonly Call[], stored: ReadonlyMap<string, readonly Stored[]>): string[] {
  const found: string[] = [];
  for (const [key, list] of Map.groupBy(calls, (call) => call.key)) {
    if (key === undefined) continue;
    const rows = list.flatMap(({ number }) => stored.get(number) ?? []);
    if (rows.length > 1) found.push(`the key ${key} stands for ${rows.length} records`);
    const replayed = list.filter(({ told }) => told.what === 'replayed');
    if (replayed.some(({ told }) => told.operationId !== rows[0]?.operationId))
      found.push(`the key ${key} was told of another operation`);
  }
  return found;
}
