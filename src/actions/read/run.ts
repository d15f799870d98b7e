import { cutMessages, knownForMs } from '../../deliveries/index.ts';
import { crashPoint } from '../../kit/crash-point.ts';
import { faultOf } from '../../kit/db/faults.ts';
import type { GroupCommit } from '../../kit/group-commit.ts';
import type { Ran, WorkContext } from '../../lanes/index.ts';
import type { Failure, ReadPage, ReadQuery } from '../../providers/index.ts';
import { ahead } from './ahead.ts';
import { entriesInTurns, seenIn, type Seen } from './entries.ts';
import { countOf, type Caller } from './fetch-page.ts';
import { alsoOf, fetchLinked, rememberedOf, type LinkedPage } from './linked-page.ts';
import { placeIn, prepare, type Prepared, type ReadDeps } from './prepare.ts';
import { endsOf, type RunEnds, type RunningItem } from './run-end.ts';
import type { RunEnd } from './store/ends.ts';
import { forgetLinks } from './store/links.ts';
import { seenBy, type Kept, type Page } from './store/pages.ts';
import type { Run } from './store/runs.ts';
import { readSince, readUntil, windowOf, type Window } from './window.ts';

/** What pages are kept by, for all runs of this process. */
export type KeepPage = GroupCommit<Page, Kept | undefined>;

/** After this long a run goes back into its lane, so that what is more urgent there comes first. */
const sliceMs = 1_000;
/** Reads that go back so far are counted, to take the provider's way for many. */
const countedFromMs = 24 * 3_600_000;
/** A cursor that the provider forgets again and again leads nowhere. */
const mostBeginnings = 3;

interface Reading extends Prepared {
  item: RunningItem;
  ends: RunEnds;
  context: WorkContext;
  window: Window;
  seen: Seen;
  deps: ReadDeps;
  keepPage: KeepPage;
  /** Records of a page, where an answer was too large to be read. */
  limit?: number;
}

/** Reads pages of a run for a while; each is kept before the next one counts. */
export async function runRead(
  deps: ReadDeps,
  keepPage: KeepPage,
  item: RunningItem,
  context: WorkContext,
): Promise<Ran<RunEnd>> {
  const { run } = item;
  const pauseAfter = deps.settings.failuresUntilPause;
  const found = await prepare(deps, item);
  if ('held' in found) {
    const { held, place } = found;
    const ends = endsOf(item, { place, pauseAfter });
    return 'failure' in held ? ends.failed(held.failure) : { end: ends.later(held.waitMs, held) };
  }
  const { prepared } = found;
  const ends = endsOf(item, { place: placeIn(prepared.target, prepared.run), pauseAfter });
  const window = windowOf(run, prepared.read.lagMs);
  const seen =
    window.repeatedFrom === undefined
      ? []
      : await seenBy(deps.ground.database, { ...item, ...run }, run.operationId);
  const reading: Reading = { ...prepared, item, ends, context, window, seen: seenIn(seen), deps, keepPage };
  if (isWhole(run)) return { end: await whole(reading, run) };
  const refused = prepared.read.refusal(queryOf(reading, run.deleted));
  return refused ? ends.failed(refused) : readPages(reading);
}

/** Whoever has looked at every record knows which ones are gone. */
async function whole({ run, item, ends, shape, deps }: Reading, place: Place): Promise<RunEnd> {
  if (run.type === 'associations') await forgetLinks(deps.ground.database, { ...item, ...run });
  return ends.whole(place, shape.missing);
}

/** The last page is kept, and no more than that. */
function isWhole({ cursor, page }: Pick<Run, 'cursor' | 'page'>): boolean {
  return cursor === null && page > 0;
}

function queryOf({ object, shape, asked, window, run, limit }: Reading, deleted: boolean): ReadQuery {
  const { since, until } = window;
  const filters = run.type === 'backfill' ? (asked.backfill?.filters ?? asked.filters) : asked.filters;
  return {
    object,
    // To compare associations, the ids are enough.
    fields: run.type === 'associations' ? [] : shape.fields,
    ...(since === undefined ? {} : { since }),
    until,
    filters: deleted ? [] : filters,
    deleted,
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Where a run is. */
type Place = Pick<
  Run,
  'cursor' | 'deleted' | 'page' | 'processed' | 'emitted' | 'estimated' | 'since' | 'until'
>;

async function readPages(reading: Reading): Promise<Ran<RunEnd>> {
  const { run } = reading;
  const begun = run.cursor === null ? await beginning(reading) : run;
  // Pages that come while others are stored are stored together; nobody waits for them if those cannot be.
  for await (const read of ahead(pagesFrom(reading, begun), joined)) {
    if ('failure' in read) return reading.ends.failed(read.failure);
    const outcome = await keep(reading, read.kept);
    if (!outcome || 'error' in outcome) return unkept(reading, outcome);
    reading.ends = reading.ends.behindPage();
    if (read.taken.cursor === null) return { end: await whole(reading, read.taken), heard: 'answer' };
    if (read.isLast)
      return { end: reading.ends.later(Math.max(read.waitMs, reading.waitMs())), heard: 'answer' };
  }
  throw new Error('the pages ended without a last one');
}

/**
 * Pages that are to be kept, where the run is with them, and how long the provider asks to wait behind them. The last of a while
 * says so; so does a failure.
 */
type ReadOne = { kept: Page; taken: Place; waitMs: number; isLast: boolean } | { failure: Failure };

/** What a page and those behind it may hold to be kept together. */
const together = { pages: 4, bytes: 1_000_000 };

function joined(one: ReadOne, next: ReadOne): ReadOne | undefined {
  if ('failure' in one || 'failure' in next) return undefined;
  const [first, second] = [one.kept, next.kept];
  const made = [...first.made, ...second.made];
  const pages = first.pages + second.pages;
  const bytes = made.reduce((sum, { body, result }) => sum + body.length + (result?.length ?? 0), 0);
  if (pages > together.pages || bytes > together.bytes) return undefined;
  const links = [...(first.links ?? []), ...(second.links ?? [])];
  const hashes = Buffer.concat([first.hashes, second.hashes]);
  return { ...next, kept: { ...second, pages, made, hashes, ...(links.length > 0 ? { links } : {}) } };
}

/** Pages one after the other for a while, each asked for while messages are made of the one before it. */
async function* pagesFrom(reading: Reading, begun: Place): AsyncGenerator<ReadOne, void> {
  const endsAt = performance.now() + sliceMs;
  let place = begun;
  let next = fetchAt(reading, place);
  for (let beginnings = 1; ;) {
    const fetched = await next;
    if ('failure' in fetched) {
      if (!fetched.begin || beginnings >= mostBeginnings) {
        yield fetched;
        return;
      }
      beginnings += 1;
      place = atBeginning(reading, place);
      next = fetchAt(reading, place);
      continue;
    }
    const { page, answeredAt } = fetched;
    if (place.page === 0 && isEarlier(reading, answeredAt)) {
      place = { ...atBeginning(reading, place), since: reading.run.since };
      next = fetchAt(reading, place);
      continue;
    }
    if (place.page === 0) place = { ...place, until: readUntil(reading.run, answeredAt) };
    const { waitMs = 0 } = page;
    const following = behind(reading, place, page);
    const mayGoOn =
      performance.now() < endsAt && reading.context.mayStillSend() && waitMs + reading.waitMs() === 0;
    const goesOn = following.cursor !== null && mayGoOn;
    if (goesOn) next = fetchAt(reading, following);
    // Nobody waits for it if this page cannot be kept.
    next.catch(() => undefined);
    const { kept, taken } = await take(reading, place.deleted, following, fetched);
    yield { kept, taken, waitMs, isLast: !goesOn };
    if (!goesOn) return;
    place = taken;
  }
}

/** Whether the run begins earlier than was thought, which it does from then on. */
function isEarlier(reading: Reading, answeredAt: number | undefined): boolean {
  const { run, read } = reading;
  const since = readSince(run, answeredAt);
  if (since === run.since) return false;
  reading.run = { ...run, since, firstAt: null };
  reading.window = windowOf(reading.run, read.lagMs);
  return true;
}

/** The provider does not know the cursor any more: the records come again, each to be told apart by its id and version. */
function atBeginning(reading: Reading, place: Place): Place {
  return { ...place, cursor: reading.read.begin(queryOf(reading, place.deleted), false) };
}

/** What is not sent from here waits in the lane of its destination. */
async function keep(
  { keepPage, deps: { deliveries }, destination }: Reading,
  page: Page,
): Promise<Kept | undefined | { error: unknown }> {
  const offer = await deliveries.handOver.offer(page.made);
  const outcome = await keepPage
    .submit({ ...page, made: offer.messages })
    .catch((error: unknown) => ({ error }));
  crashPoint('after-page');
  const started = Array.isArray(outcome) ? outcome : [];
  offer.kept(started);
  if (Array.isArray(outcome) && started.length < page.made.length) deliveries.announce(destination.id);
  return outcome;
}

/** The run stands where it stood, or further if the answer alone was lost: it goes on from there. */
function unkept({ ends }: Reading, outcome: undefined | { error: unknown }): Ran<RunEnd> {
  // Until then this node may remember a destination that was deleted.
  if (!outcome) return { end: ends.later(knownForMs), heard: 'answer' };
  const { error } = outcome;
  if (faultOf(error) !== 'data') return { end: ends.later(1_000), heard: 'answer' };
  const message = `a page could not be stored: ${error instanceof Error ? error.message : String(error)}`;
  return ends.failed({ category: 'internal', retryable: false, message });
}

/** The first page, and how many records are expected where that is worth a question. */
async function beginning(reading: Reading): Promise<Place> {
  const { run, read, window, deps } = reading;
  const query = queryOf(reading, false);
  const isLong = window.since === undefined || run.until - window.since >= countedFromMs;
  const estimated = isLong ? ((await countOf(callerOf(reading), query)) ?? null) : null;
  return { ...run, estimated, cursor: read.begin(query, (estimated ?? 0) >= deps.settings.bulkFrom) };
}

const callerOf = ({ read, client, context }: Reading): Caller => ({
  read,
  client,
  mayStillSend: () => context.mayStillSend(),
});

async function fetchAt(
  reading: Reading,
  { cursor, deleted }: Place,
): Promise<LinkedPage | { failure: Failure; begin?: true }> {
  const { item, run, associating, shape, deps } = reading;
  const query = queryOf(reading, deleted);
  const { projectId } = item;
  const { database } = deps.ground;
  const onlyChanged =
    run.type === 'associations' ? { database, run, projectId, fields: shape.fields } : undefined;
  const fetched = await fetchLinked(callerOf(reading), { associating, onlyChanged }, query, cursor ?? '');
  if (query.limit !== undefined) reading.limit = query.limit;
  return fetched;
}

/** Where the run goes on behind a page: the deleted records come after those that stand. No cursor: it is whole. */
function behind(reading: Reading, place: Place, { next }: ReadPage): Place {
  const after = { ...place, page: place.page + 1, cursor: next ?? null };
  // Nothing of the history was delivered that could have been deleted since; comparing is about what stands.
  const isAboutChanges = reading.run.type === 'scheduled' || reading.run.type === 'triggered';
  const wantsDeletions = reading.asked.deletions && isAboutChanges;
  if (next !== undefined || place.deleted || !wantsDeletions) return after;
  return { ...after, deleted: true, cursor: reading.read.begin(queryOf(reading, true), false) };
}

/** Makes messages of a page. */
async function take(
  reading: Reading,
  deleted: boolean,
  following: Place,
  { page: { records }, listed, associated }: LinkedPage,
): Promise<{ kept: Page; taken: Place }> {
  const { item, run, target, asked, destination, envelope, shape, seen, deps, associating } = reading;
  const { entries, hashes } = await entriesInTurns(records, {
    shape,
    deleted,
    seen,
    repeatedFrom: windowOf({ ...run, until: following.until }, reading.read.lagMs).repeatedFrom,
    also: associating && associated && alsoOf(associating, associated),
  });
  const made = await cutMessages(envelope, entries, {
    projectId: item.projectId,
    operationId: run.operationId,
    installationId: run.installationId,
    groupRef: target.groupRef,
    object: asked.deliveredAs,
    destinationId: destination.id,
    page: following.page,
    publicUrl: deps.ground.publicUrl,
  });
  const taken: Place = {
    ...following,
    processed: following.processed + listed,
    emitted: following.emitted + entries.length,
  };
  const { operationId } = run;
  const { projectId, seq, lease } = item;
  const links = associated && rememberedOf(associated, new Set(entries.map(({ key }) => key.id)));
  const { groupRef } = target;
  const { id: destinationId } = destination;
  const kept = {
    ...taken,
    pages: 1,
    projectId,
    operationId,
    seq,
    lease,
    groupRef,
    destinationId,
    hashes,
    made,
  };
  return { taken, kept: links ? { ...kept, links } : kept };
}
