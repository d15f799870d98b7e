import { crashPoint } from '../../../kit/crash-point.ts';
import type { Database } from '../../../kit/db/database.ts';
import { faultOf, isTaken } from '../../../kit/db/faults.ts';
import { repeatWhileAway } from '../../../kit/db/lost-commit.ts';
import { createIntakeCommit } from '../../../kit/group-commit.ts';
import { newId } from '../../../kit/ids.ts';
import { problem } from '../../../kit/problem.ts';
import { createDoubts, explained, failsAll, findEarlierUse, type Doubts } from '../../../operations/index.ts';
import { batchKeyOf, placesOf, requestsOf, type AutoBatchIntake, type Entry, type Place } from './places.ts';
import { closeOthers, findOwn, findStanding, insert, take } from './store.ts';

/** Where a record went. `full`: all places of its batch are handed out, it may leave. */
export interface Gathered {
  operationId: string;
  full: boolean;
  /** The idempotency key stands for this operation, and nothing was accepted. */
  replayed?: true;
}

export interface Gatherer {
  /** Resolves once the record is committed in a batch. Throws as an acceptance does (`operations/accept.ts`). */
  accept(intake: AutoBatchIntake): Promise<Gathered>;
  drain(): Promise<void>;
}

/** A group that loses its answers, or its places, for this long fails. */
const recoverForMs = 10_000;

/** What is refused fails alone, its neighbours are gathered. */
type Fate = Gathered | { refused: unknown };

/** A group on its way: what became of its entries so far, by their ids. */
interface Gathering {
  database: Database;
  fates: Map<string, Fate>;
  doubts: Doubts;
  /** Monotonic. */
  endsAt: number;
}

/** Gathers single records into batches: a group takes its places without a flush, and commits its records with one (docs/invariants.md, 17). */
export function createGatherer(database: Database): Gatherer {
  const group = createIntakeCommit<Entry, Fate>({
    weigh: ({ payload }) => payload.length,
    commit: (entries) => gather(database, entries),
    bisectOn: (error) => faultOf(error) === 'data',
    failsAll,
    answerLast: true,
  });
  return {
    async accept(intake) {
      const payload = JSON.stringify(intake.record);
      const entry = { ...intake, id: newId(), batchKey: batchKeyOf(intake), payload };
      const fate = await group.submit(entry).catch((error: unknown): Fate => ({ refused: error }));
      if ('refused' in fate) throw explained(fate.refused, entry.id, entry.key);
      return fate;
    },
    drain: () => group.drain(),
  };
}

/** Takes places and fills them until every entry has one: what missed its batch, because it was sealed, goes round again. */
async function gather(database: Database, entries: readonly Entry[]): Promise<Fate[]> {
  const fates = new Map<string, Fate>();
  const doubts = createDoubts();
  const gathering = { database, fates, doubts, endsAt: performance.now() + recoverForMs };
  let left = entries;
  for (let round = 0; left.length > 0; round++) {
    try {
      await gatherOnce(gathering, left, round > 0);
      if (performance.now() > gathering.endsAt)
        throw problem('database-unavailable', { retryAfterSeconds: 1 });
    } catch (error) {
      const failure = doubts.of(error);
      if (fates.size === 0) throw failure;
      for (const { id } of left) if (!fates.has(id)) fates.set(id, { refused: failure });
    }
    left = left.filter(({ id }) => !fates.has(id));
  }
  return entries.map(({ id }) => fates.get(id) as Fate);
}

async function gatherOnce(gathering: Gathering, entries: readonly Entry[], missed: boolean): Promise<void> {
  const { database } = gathering;
  const standing = await persist(gathering, () => findStanding(database, entries));
  for (const entry of entries) if (standing.has(entry.id)) await replay(gathering, entry);
  const left = entries.filter(({ id }) => !gathering.fates.has(id));
  const requests = requestsOf(left, missed);
  if (requests.length === 0) return;
  await persist(gathering, () => closeOthers(database, left));
  const ranges = await persist(gathering, () => take(database, requests));
  crashPoint('after-slots');
  await fill(gathering, placesOf(requests, ranges));
  crashPoint('after-accept');
}

/** Puts records into their places. A bad one is found by halving: the others keep the places that they have. */
async function fill(gathering: Gathering, places: readonly Place[]): Promise<void> {
  const { database, fates, doubts } = gathering;
  const store = (): ReturnType<typeof insert> =>
    insert(database, places).catch((error: unknown) => {
      for (const { entry, batchId } of places) doubts.note(error, entry.id, batchId);
      throw error;
    });
  try {
    const inserted = await persist(gathering, store);
    for (const [at, { entry, batchId }] of places.entries()) {
      const full = inserted[at]?.full;
      if (full !== undefined) fates.set(entry.id, { operationId: batchId, full });
    }
    await findMissing(gathering, places);
  } catch (error) {
    if (faultOf(error) !== 'data') throw error;
    if (isTaken(error)) await findMissing(gathering, places);
    const left = places.filter(({ entry }) => !fates.has(entry.id));
    const [only] = left;
    // A place that a crash handed out twice is another's now: the entry goes round again.
    if (only && left.length === 1)
      return isTaken(error) ? undefined : void fates.set(only.entry.id, { refused: error });
    if (left.length < places.length) return fill(gathering, left);
    const middle = Math.ceil(left.length / 2);
    await fill(gathering, left.slice(0, middle));
    await fill(gathering, left.slice(middle));
  }
}

/**
 * Entries that were not inserted: a commit whose answer was lost stands in its places; a key may stand for something else. One
 * that is in neither goes round again, unless a commit of it may still come to its place: its batch gathers, and what kept the
 * repetition out came after the first.
 */
async function findMissing(gathering: Gathering, places: readonly Place[]): Promise<void> {
  const { database, fates, doubts } = gathering;
  const missing = places.filter(({ entry }) => !fates.has(entry.id));
  if (missing.length === 0) return;
  const found = await persist(gathering, () => findOwn(database, missing));
  for (const [at, { entry, batchId }] of missing.entries()) {
    const place = found[at];
    // A batch that is gone takes no more.
    if (place?.gathers !== true) doubts.settle(entry.id);
    const refused = doubts.about(entry.id);
    if (place?.own === true) fates.set(entry.id, { operationId: batchId, full: true });
    else if (refused) fates.set(entry.id, { refused });
    else await replay(gathering, entry);
  }
}

/** An entry whose key stands for an earlier request has what that was given; one whose key is free goes on. */
async function replay({ database, fates }: Gathering, { id, projectId, key }: Entry): Promise<void> {
  if (!key) return;
  try {
    const earlier = await findEarlierUse(database, projectId, key);
    if (earlier) fates.set(id, { operationId: earlier.operationId, full: false, replayed: true });
  } catch (error) {
    fates.set(id, { refused: error });
  }
}

const persist = <T>({ endsAt }: Gathering, work: () => Promise<T>): Promise<T> =>
  repeatWhileAway(endsAt, work);
