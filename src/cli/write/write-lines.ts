import { SvcError, type Fields, type Svc } from '../../../ui/client/src/index.ts';
import { exitCodes, Failure } from '../failure.ts';
import { failureOf } from '../report.ts';
import { counted, say, tell } from '../output.ts';
import type { Line } from './lines.ts';
import { requestOf, type Target, type WriteOptions } from './options.ts';

/** Failures that are told one by one; the others are counted. */
const mostTold = 20;

/** How far it is, and why it ends before the last line. */
class Progress {
  written = 0;
  failed = 0;
  stop: Failure | undefined;
  readonly mode: Target['mode'];
  readonly #stopping = new AbortController();

  constructor(mode: Target['mode']) {
    this.mode = mode;
  }

  /** What svc says of a line that is done is only that it will be written, where the mode is so. */
  get told(): string {
    return `${this.written} ${this.mode === 'asynchronous' ? 'accepted' : 'written'}`;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Ends what is under way, too: its keys let it be repeated. */
  end(stop: Failure): void {
    this.stop ??= stop;
    this.#stopping.abort();
  }
}

const goOn = 'Run the same command again to go on: what was done is not done twice.';

/** Writes the lines, some at once; those of one record in their order. Answers how many; throws when one failed, or when it had to stop. */
export async function writeLines(
  svc: Svc,
  target: Target,
  linesUntil: (signal: AbortSignal) => AsyncIterable<Line>,
  options: Pick<WriteOptions, 'json' | 'concurrency'>,
): Promise<number> {
  const progress = new Progress(target.mode);
  const interrupt = (): void => progress.end(new Failure('Interrupted.', goOn, exitCodes.interrupted));
  const deafened = (): void => progress.end(new Failure('The output was closed.', goOn));
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  process.stdout.on('error', deafened);
  const shown = showProgress(progress);
  try {
    await inParallel(linesUntil(progress.signal), options.concurrency, progress, (line) =>
      writeLine(svc, target, line, progress, options),
    );
  } finally {
    clearInterval(shown);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  if (progress.written + progress.failed > 0 || progress.stop) finish(progress);
  return progress.written;
}

/** Begins a line when there is room, and behind what is under way for the same record. */
async function inParallel(
  lines: AsyncIterable<Line>,
  most: number,
  progress: Progress,
  work: (line: Line) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const ofRecord = new Map<unknown, Promise<void>>();
  for await (const line of lines) {
    if (progress.stop) break;
    const id = line.record?.['id'];
    const before = id === undefined ? undefined : ofRecord.get(id);
    const done: Promise<void> = (before ?? Promise.resolve())
      .then(() => (progress.stop ? undefined : work(line)))
      .finally(() => {
        running.delete(done);
        if (ofRecord.get(id) === done) ofRecord.delete(id);
      });
    running.add(done);
    if (id !== undefined) ofRecord.set(id, done);
    if (running.size >= most) await Promise.race(running);
  }
  await Promise.all(running);
}

async function writeLine(
  svc: Svc,
  target: Target,
  { number, key, record, fault }: Line,
  progress: Progress,
  options: { json?: boolean },
): Promise<void> {
  if (!record) {
    failed(progress, options, { line: number, message: fault ?? '' });
    return;
  }
  try {
    const answer = await svc.write(requestOf(target, record as Fields), {
      idempotencyKey: key,
      retryFailed: true,
      signal: progress.signal,
    });
    progress.written += 1;
    const recordId = 'result' in answer ? answer.result.recordId : undefined;
    const { operationId } = answer;
    if (options.json) say(options, { line: number, operationId, recordId }, '');
  } catch (error) {
    if (progress.signal.aborted) return;
    if (!(error instanceof SvcError)) throw error;
    if (!endsAll(error)) {
      const { operationId, category } = error;
      failed(progress, options, { line: number, message: wordsOf(error), operationId, category });
      return;
    }
    const { message, remedy, exitCode, details } = failureOf(error);
    progress.end(new Failure(message, `${remedy} ${goOn}`, exitCode, details));
  }
}

const inFlight = 'idempotency-key-in-flight';

function wordsOf({ code, detail, operationId }: SvcError): string {
  return code === inFlight
    ? `what became of it is not known yet; operation ${operationId} will tell. Run the same command again later.`
    : detail;
}

/** What is wrong with every line, or with the way there, and what may be otherwise soon; not what is wrong with one line. */
function endsAll(error: SvcError): boolean {
  if (error.code === inFlight) return false;
  return error.status === 404 || error.retryable || failureOf(error).exitCode !== exitCodes.refused;
}

/** Why a line failed, and the operation that has more to say. */
interface FailedLine {
  line: number;
  message: string;
  operationId?: string | undefined;
  category?: string | undefined;
}

function failed(progress: Progress, { json }: { json?: boolean }, one: FailedLine): void {
  progress.failed += 1;
  if (json) {
    tell(JSON.stringify({ error: one }));
    return;
  }
  const { line, message, operationId } = one;
  const where = operationId === undefined ? '' : ` (operation ${operationId})`;
  if (progress.failed <= mostTold) tell(`line ${line}: ${message}${where}`);
  if (progress.failed === mostTold) tell('Further failures are counted only.');
}

function finish({ written, failed: failures, stop, mode }: Progress): void {
  const count = `${counted(written, 'line')} ${mode === 'asynchronous' ? 'accepted' : 'written'}, ${failures} failed.`;
  if (stop)
    throw new Failure(`${stop.message} ${count}`, stop.remedy, stop.exitCode, {
      ...stop.details,
      written,
      failed: failures,
    });
  if (failures > 0)
    throw new Failure(
      count,
      'Mend what they failed of and run the command again: they are tried anew, and what was done is not done twice.',
      exitCodes.refused,
      {
        written,
        failed: failures,
      },
    );
  tell(count);
  if (mode === 'asynchronous')
    tell('They are written in the background: svc operations list tells what becomes of them.');
}

/** On a terminal alone. */
function showProgress(progress: Progress): NodeJS.Timeout | undefined {
  if (!process.stderr.isTTY) return undefined;
  return setInterval(() => {
    process.stderr.write(`\r${progress.told}, ${progress.failed} failed `);
  }, 200);
}
