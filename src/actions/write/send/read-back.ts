import { headerOf } from '../../../kit/http/client.ts';
import { sleep } from '../../../kit/retry.ts';
import {
  failureOfRead,
  type Connector,
  type Failure,
  type ObjectDescription,
  type ProviderClient,
  type RecordOutcome,
  type ResolveAbility,
  type StandingRecord,
} from '../../../providers/index.ts';
import { sendOrExplain } from '../../send.ts';
import { halvesOf, isTooLong } from './look-up.ts';
import { inParts, weightOf } from './weight.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import {
  comparableFields,
  earliestCreation,
  judgeStanding,
  ownRecord,
  sameIn,
  searchOf,
  type Barred,
  verdictOf,
  type SameIn,
  type Search,
  type Shut,
  type Standing,
  type Verdict,
} from './resolve.ts';

/** A record of unknown outcome, with the time by our clock before which its create cannot have begun. */
export interface LostRecord {
  record: PlannedRecord;
  startedAt: number;
  /** Nothing was sent for so long that what is not there cannot come any more. */
  quiet: boolean;
}

export interface ReadBackContext {
  connector: Connector;
  client: ProviderClient;
  describe: () => Promise<{ object: ObjectDescription } | { failure: Failure }>;
  /** Ends the looking: what is not known by then is for later. */
  signal: AbortSignal;
  /** A read that fails is made this many times in all. */
  tries: number;
  /** Also to look again, after the settle time, for what is not there at once and may still come. */
  twice: boolean;
  /** Ids of records that are known to be another's. */
  claimed: readonly string[];
  /** Which of these are another's. */
  madeElsewhere?: (recordIds: readonly string[]) => Promise<readonly string[]>;
}

interface Lost extends LostRecord {
  at: number;
  search: Search;
}

/** Looks for the records of lost creates by their unique values. A verdict for each, in order. */
export async function readBack(
  objectName: string,
  lost: readonly LostRecord[],
  context: ReadBackContext,
): Promise<Verdict[]> {
  const verdicts = new Map<number, Verdict>();
  await orAborted(lookFor(objectName, lost, context, verdicts), context.signal);
  return lost.map((_, at) => verdicts.get(at) ?? 'later');
}

async function lookFor(
  objectName: string,
  lost: readonly LostRecord[],
  context: ReadBackContext,
  verdicts: Map<number, Verdict>,
): Promise<void> {
  const ability = context.connector.resolve;
  const described = ability ? await context.describe() : undefined;
  if (described && 'failure' in described && described.failure.retryable) return;
  const description = described && 'object' in described ? described.object : undefined;
  const keys = ability?.uniqueFields(objectName, description) ?? [];
  const searched: Lost[] = [];
  for (const [at, one] of lost.entries()) {
    const search = searchOf(one.record, keys);
    if (search) searched.push({ ...one, at, search });
    else verdicts.set(at, described && 'failure' in described ? verdictOf(described.failure) : 'untellable');
  }
  if (!ability || searched.length === 0) return;
  const fields = comparableFields(
    searched.map(({ record }) => record),
    description,
  );
  const reader: Reader = {
    ability,
    objectName,
    description,
    fields,
    isSame: sameIn(description, context.connector),
    context,
    verdicts,
    claimed: new Set(context.claimed),
  };
  const missing = await readRound(reader, searched);
  const setAbsent = ({ at, search, quiet }: Lost): unknown =>
    verdicts.set(at, { absent: search, over: quiet, hides: !ability.seesAll });
  const mayCome = missing.filter(({ quiet }) => context.twice && !quiet);
  missing.filter((one) => !mayCome.includes(one)).forEach(setAbsent);
  if (mayCome.length === 0) return;
  await sleep(ability.settleMs, context.signal);
  (await readRound(reader, mayCome)).forEach(setAbsent);
}

interface Reader {
  ability: ResolveAbility;
  objectName: string;
  description: ObjectDescription | undefined;
  fields: readonly string[];
  isSame: SameIn;
  context: ReadBackContext;
  verdicts: Map<number, Verdict>;
  claimed: Set<string>;
}

/** One look at all of them, by each field in use; answers those that are not there. What could not be read is left for later. */
async function readRound(reader: Reader, searched: readonly Lost[]): Promise<Lost[]> {
  const seen: Seen[] = [];
  for (const [by, group] of Map.groupBy(searched, ({ search }) => search.key.name)) {
    const parts = inParts(group, reader.ability.valuesPerRead, ({ record }) => weightOf(record));
    for (const part of parts) {
      const read = await readValues(reader, by, part);
      if (read === 'later') continue;
      if (read === 'fewer') {
        // The loop comes to what is added.
        parts.push(...halvesOf(part));
        continue;
      }
      if (!('found' in read)) {
        for (const { at } of part) reader.verdicts.set(at, read);
        continue;
      }
      const others = await othersOf(reader, read);
      if (others === 'later') continue;
      for (const id of others) reader.claimed.add(id);
      seen.push(...part.map((one) => ({ one, standing: standingOf(reader, one, read) })));
    }
  }
  // What is surely the record of one may not pass for that of another.
  const open = seen.filter(
    ({ one, standing }) => !isTold(reader, one, ownRecord(one.record, one.search, standing)),
  );
  return open
    .filter(({ one, standing }) => !isTold(reader, one, judgeStanding(one.record, one.search, standing)))
    .map(({ one }) => one);
}

/** A record of unknown outcome, and what stands under its value. */
interface Seen {
  one: Lost;
  standing: Standing;
}

interface Read {
  found: Map<string, StandingRecord[]>;
  answeredAt: number;
  date: string | undefined;
}

/** Which of the records that were found other operations made; later where the ledger does not say now. */
async function othersOf({ context }: Reader, { found }: Read): Promise<readonly string[] | 'later'> {
  const ids = [...found.values()].flat().map(({ recordId }) => recordId);
  try {
    return (await context.madeElsewhere?.(ids)) ?? [];
  } catch {
    return 'later';
  }
}

function standingOf(
  { ability, claimed, isSame }: Reader,
  { search, startedAt }: Lost,
  { found, answeredAt, date }: Read,
): Standing {
  const since = earliestCreation(startedAt, answeredAt, date, ability.createdPrecisionMs);
  return { records: found.get(search.value) ?? [], since, claimed, isSame };
}

function isTold({ verdicts, claimed }: Reader, { at }: Lost, outcome: RecordOutcome | undefined): boolean {
  if (!outcome) return false;
  if (outcome.kind === 'applied' && outcome.recordId !== undefined) claimed.add(outcome.recordId);
  verdicts.set(at, outcome);
  return true;
}

const firstPauseMs = 250;

/** `fewer`: so many have no room in one read, or its answer does not tell of all or is too large to be read. */
async function readValues(
  reader: Reader,
  by: string,
  part: readonly Lost[],
): Promise<Read | Barred | Shut | 'later' | 'fewer'> {
  const { ability, objectName, description, fields, context } = reader;
  const values = [...new Set(part.map(({ search }) => search.value))];
  const request = ability.build(objectName, by, values, fields);
  if (isTooLong(ability, { values, request })) return 'fewer';
  for (let attempt = 1; attempt <= context.tries && !context.signal.aborted; attempt++) {
    if (attempt > 1) await sleep(firstPauseMs * 2 ** (attempt - 2), context.signal);
    const result = await sendOrExplain(context, request);
    const answeredAt = Date.now();
    const read =
      'answer' in result ? ability.judge(by, values, fields, result.answer, description) : undefined;
    if (read && 'found' in read && 'answer' in result)
      return { found: read.found, answeredAt, date: headerOf(result.answer, 'date') };
    const isTooMuch = read ? 'untold' in read : 'fault' in result && result.fault.kind === 'tooLarge';
    if (isTooMuch && part.length > 1) return 'fewer';
    const failure = failureOfLook(result, read);
    if (!failure.retryable) return verdictOf(failure);
  }
  return 'later';
}

function failureOfLook(
  result: Awaited<ReturnType<typeof sendOrExplain>>,
  read: ReturnType<ResolveAbility['judge']> | undefined,
): Failure {
  if ('fault' in result) return failureOfRead(result.fault);
  if ('failure' in result) return result.failure;
  if (read && 'untold' in read) return read.untold;
  return read && 'failure' in read ? read.failure : unreadable;
}

const unreadable: Failure = {
  category: 'providerDown',
  retryable: false,
  message: 'the answer could not be read',
};

/** Waits for the work, but no longer than until the signal. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
  });
  await Promise.race([work, aborted]).finally(() => over.abort());
}
