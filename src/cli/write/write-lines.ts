import { SvcError, type Fields, type Svc } from '../../../ui/client/src/index.ts';
import { canonicalId } from '../../providers/salesforce/ids.ts';
import { exitCodes, Failure } from '../failure.ts';
import { failureOf } from '../report.ts';
import { counted, say, tell } from '../output.ts';
import { settleUnknown } from '../remedies.ts';
import type { Line } from './lines.ts';
import { requestOf, type Target, type WriteOptions } from './options.ts';
import { mostTold, Progress, showProgress, tellOfLine, type NotWritten } from './progress.ts';

/** Where lines go. */
export interface Destination {
  svc: Svc;
  target: Target;
}

const goOn = 'Run the same command again to go on: what was done is not done twice.';
/** What was done is known to the API key that it was done with. */
const goOnWithKey =
  'What was done is known to this API key alone: with another one each line is written again. Let it in again (`svc keys enable`, with --expires where it expired), then run the same command again.';

/**
 * Writes the lines, some at once; those of one record in their order, and none after one of the same record that was not written. Answers how many; throws when one failed, or when it had to stop.
 * `to` is asked for each line: ids are known once there is one. `bytes`: of all lines, where that is known.
 */
export async function writeLines(
  to: () => Destination,
  linesUntil: (signal: AbortSignal) => AsyncIterable<Line>,
  options: Pick<WriteOptions, 'json' | 'concurrency'>,
  bytes?: number,
): Promise<number> {
  const { mode, upsertBy } = to().target;
  const progress = new Progress(mode, bytes);
  const interrupt = (): void => progress.end(new Failure('Interrupted.', goOn, exitCodes.interrupted));
  const deafened = (): void => progress.end(new Failure('The output was closed.', goOn));
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  process.stdout.on('error', deafened);
  const shown = showProgress(progress);
  try {
    const limits = { most: options.concurrency, by: upsertBy };
    await inParallel(linesUntil(progress.signal), limits, progress, (line, heldBy) =>
      heldBy === undefined
        ? writeLine(to(), line, progress, options)
        : Promise.resolve(heldBack(line, heldBy, progress, options)),
    );
  } finally {
    shown.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    if (!options.json) tellOthers(progress.untold);
  }
  if (progress.written + progress.notWritten > 0 || progress.stop) finish(progress);
  return progress.written;
}

/** The lines of each record that were not written, by the record: the number of the first. */
type Held = ReadonlyMap<string, number>;

/** Begins a line when there is room, and behind what is under way for the same record. */
async function inParallel(
  lines: AsyncIterable<Line>,
  { most, by }: { most: number; by: string | undefined },
  progress: Progress,
  work: (line: Line, heldBy: number | undefined) => Promise<boolean>,
): Promise<void> {
  const running = new Set<Promise<unknown>>();
  const last = new Map<string, Promise<Held>>();
  for await (const line of lines) {
    if (progress.stop) break;
    const { turn, record = '' } = sameAs(line.record, by);
    const before = turn === undefined ? undefined : last.get(turn);
    const done: Promise<Held> = (before ?? Promise.resolve<Held>(new Map()))
      .then(async (held) => {
        if (progress.stop) return held;
        const isWritten = await work(line, held.get(record));
        if (!isWritten && record !== '' && !held.has(record)) return new Map(held).set(record, line.number);
        // Whoever is held back finds it here; all others are forgotten.
        if (turn !== undefined && held.size === 0 && last.get(turn) === done) last.delete(turn);
        return held;
      })
      .finally(() => running.delete(done));
    running.add(done);
    if (turn !== undefined) last.set(turn, done);
    if (running.size >= most) await Promise.race(running);
  }
  await Promise.all(running);
}

/**
 * Which lines take turns, and which are of one record. An upsert goes by a field that svc finds in any letter case, and by the builder's
 * name or the provider's: a line that does not hold it by the name that was told takes turns with all that do not. Pure.
 */
export function sameAs(
  record: Line['record'] = {},
  by: string | undefined,
): { turn?: string; record?: string } {
  const name = by ?? 'id';
  const member = Object.keys(record).find((one) => one.toLowerCase() === name.toLowerCase());
  const value = member === undefined ? undefined : record[member];
  if (value === undefined || value === null) return by === undefined ? {} : { turn: 'unnamed' };
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).trim();
  const same = `=${by === undefined ? canonicalId(text) : text.toLowerCase()}`;
  return { turn: same, record: same };
}

/** Answers whether the line was written. */
async function writeLine(
  { svc, target }: Destination,
  line: Line,
  progress: Progress,
  options: { json?: boolean },
): Promise<boolean> {
  const { number, key, record, fault, bytes } = line;
  if (!record) return notWritten(progress, options, 'failed', line, { message: fault ?? '' });
  try {
    const answer = await svc.write(requestOf(target, record as Fields), {
      idempotencyKey: key,
      retryFailed: true,
      signal: progress.signal,
    });
    progress.wrote(bytes);
    const recordId = 'result' in answer ? answer.result.recordId : undefined;
    const { operationId } = answer;
    if (options.json) say(options, { line: number, operationId, recordId }, '');
    return true;
  } catch (error) {
    if (progress.signal.aborted) return false;
    if (!(error instanceof SvcError)) throw error;
    const { operationId, category } = error;
    if (!endsAll(error)) {
      const how = isUnknown(error) ? 'unknown' : 'failed';
      return notWritten(progress, options, how, line, { message: wordsOf(error), operationId, category });
    }
    progress.end(ending(error, progress));
    return false;
  }
}

function ending(error: SvcError, { written }: Progress): Failure {
  const { message, remedy, exitCode, details } = failureOf(error);
  const isRefusedKey = exitCode === exitCodes.credentials;
  const further = isRefusedKey ? (written > 0 ? goOnWithKey : remedy) : `${remedy} ${goOn}`;
  return new Failure(message, further, exitCode, details);
}

/** A later line of a record would be overwritten by an earlier one that is tried anew. */
function heldBack(line: Line, heldBy: number, progress: Progress, options: { json?: boolean }): boolean {
  const message = `not sent, since line ${heldBy} of the same record was not written`;
  return notWritten(progress, options, 'failed', line, { message });
}

const inFlight = 'idempotency-key-in-flight';
const erased = 'operation-erased';

function isUnknown({ code, category }: SvcError): boolean {
  // A time-out has a code of its own.
  return ['outcome-unknown', inFlight, erased].includes(code) || category === 'unknownOutcome';
}

function wordsOf({ code, detail, remedy, operationId }: SvcError): string {
  // No list has its operation.
  if (code === erased) return `${detail} ${remedy}`;
  return code === inFlight
    ? `what became of it is not known yet; operation ${operationId} will tell. Run the same command again later.`
    : detail;
}

/** What is wrong with every line, or with the way there, and what may be otherwise soon; not what is wrong with one line. */
function endsAll(error: SvcError): boolean {
  if (isUnknown(error)) return false;
  if (error.code === 'delete-not-enabled') return true;
  return error.status === 404 || error.retryable || failureOf(error).exitCode !== exitCodes.refused;
}

/** Why a line was not written, and the operation that has more to say. */
interface Why {
  message: string;
  operationId?: string | undefined;
  category?: string | undefined;
}

/** Counts and tells it; answers false. */
function notWritten(
  progress: Progress,
  { json }: { json?: boolean },
  how: NotWritten,
  { number, bytes }: Line,
  why: Why,
): false {
  progress.endedAs(how, number, bytes);
  if (json) {
    tell(JSON.stringify({ error: { line: number, ...why } }));
    return false;
  }
  const { message, operationId } = why;
  const where = operationId === undefined ? '' : ` (operation ${operationId})`;
  if (progress.notWritten <= mostTold) tellOfLine(`line ${number}: ${message}${where}`);
  else if (progress.notWritten === mostTold + 1)
    tellOfLine('Of further lines that fail the numbers are told at the end.');
  return false;
}

function tellOthers(untold: Progress['untold']): void {
  const whose = { failed: 'Failed, too', unknown: 'Of unknown outcome, too' };
  for (const how of ['failed', 'unknown'] as const) {
    const numbers = untold[how];
    if (numbers.length === 0) continue;
    const lines = numbers.length === 1 ? 'line' : 'lines';
    tell(`${whose[how]}: ${lines} ${rangesOf(numbers)}. With --json the command tells why of each.`);
  }
}

/** So many ranges are told: those of a file of which each other line fails would fill the terminal. */
const mostRanges = 200;

/** Numbers in their order, those that follow one another as a range, and how many are left out: `3, 7-12 and 5 others`. Pure. */
export function rangesOf(numbers: readonly number[]): string {
  const runs: [from: number, to: number][] = [];
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const last = runs.at(-1);
    if (last && number <= last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const told = runs.slice(0, mostRanges).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  const others = runs.slice(mostRanges).reduce((sum, [from, to]) => sum + to - from + 1, 0);
  return `${told.join(', ')}${others === 0 ? '' : ` and ${others} others`}`;
}

function finish(progress: Progress): void {
  const { written, failed, unknown, stop, mode } = progress;
  const count = `${progress.told((lines) => counted(lines, 'line'))}.`;
  const counts = { written, failed, unknown };
  if (stop)
    throw new Failure(`${stop.message} ${count}`, stop.remedy, stop.exitCode, { ...stop.details, ...counts });
  if (failed + unknown > 0) throw new Failure(count, remedyFor(progress), exitCodes.refused, counts);
  tell(count);
  if (mode === 'asynchronous')
    tell(
      'Accepted is not done: svc operations list --unresolved and --status failure name the operations that went wrong, and the same command with --json tells the operation of each line, and writes nothing twice.',
    );
}

/** What is tried anew by the same command, and what is not. */
function remedyFor({ failed, unknown }: Progress): string {
  const whose = unknown > 0 ? 'the others' : 'they';
  const mend = `Mend what ${whose} failed of and run the command again: they are tried anew, and what was done is not done twice.`;
  const settle = `Lines whose outcome is unknown are not tried anew until it is settled: \`svc operations list --unresolved\` lists their operations. ${settleUnknown} Then run the command again.`;
  return [...(failed > 0 ? [mend] : []), ...(unknown > 0 ? [settle] : [])].join(' ');
}
