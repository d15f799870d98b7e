import type { Failure } from '../failure.ts';
import { tell } from '../output.ts';
import type { Target } from './options.ts';

/** What became of a line that was not written. */
export type NotWritten = 'failed' | 'unknown';

/** Lines that are told one by one as they end; of the others the numbers are told at the end. */
export const mostTold = 20;

/** How far it is, and why it ends before the last line. */
export class Progress {
  written = 0;
  failed = 0;
  /** What became of them at the provider is not known. */
  unknown = 0;
  /** The numbers of those beyond the most that are told one by one. */
  readonly untold: Readonly<Record<NotWritten, number[]>> = { failed: [], unknown: [] };
  /** Of the lines that have ended. */
  doneBytes = 0;
  stop: Failure | undefined;
  readonly mode: Target['mode'];
  /** Of all lines, where that is known. */
  readonly bytes: number | undefined;
  readonly startedAt = performance.now();
  readonly #stopping = new AbortController();

  constructor(mode: Target['mode'], bytes?: number) {
    this.mode = mode;
    this.bytes = bytes;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  wrote(bytes: number): void {
    this.written += 1;
    this.doneBytes += bytes;
  }

  endedAs(how: NotWritten, line: number, bytes: number): void {
    this[how] += 1;
    if (this.notWritten > mostTold) this.untold[how].push(line);
    this.doneBytes += bytes;
  }

  get notWritten(): number {
    return this.failed + this.unknown;
  }

  /** How many lines ended how. What svc says of a line in the mode `asynchronous` is only that it will be written. */
  told(count: (lines: number) => string = String): string {
    const { written, failed, unknown, mode } = this;
    const done = `${count(written)} ${mode === 'asynchronous' ? 'accepted' : 'written'}, ${failed} failed`;
    return unknown === 0 ? done : `${done}, ${unknown} of unknown outcome`;
  }

  /** Ends what is under way, too: its keys let it be repeated. */
  end(stop: Failure): void {
    this.stop ??= stop;
    this.#stopping.abort();
  }
}

const barWidth = 24;

/**
 * How far it is, in one line. A file shows how much of it is done and how long the rest takes at the rate so far; what is piped in has no
 * end that is known.
 */
export function progressLine(progress: Progress, ms: number): string {
  const { written, notWritten, doneBytes, bytes } = progress;
  const told = progress.told();
  if (bytes === undefined || bytes === 0)
    return ms === 0 ? told : `${told}, ${Math.round(((written + notWritten) / ms) * 1000)} a second`;
  const share = Math.min(1, doneBytes / bytes);
  const filled = Math.floor(share * barWidth);
  const bar = `[${'#'.repeat(filled)}${' '.repeat(barWidth - filled)}] ${Math.floor(share * 100)} %`;
  return share === 0 || share === 1
    ? `${bar}  ${told}`
    : `${bar}  ${told}, ${leftOf((ms * (1 - share)) / share)}`;
}

function leftOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`;
}

const clearLine = '\r\u001b[K';

/** Tells of a line, in the place of how far it is. */
export function tellOfLine(text: string): void {
  tell(process.stderr.isTTY ? clearLine + text : text);
}

/** On a terminal alone. */
export function showProgress(progress: Progress): { end(): void } {
  if (!process.stderr.isTTY) return { end: () => undefined };
  const show = (): void => {
    process.stderr.write(clearLine + progressLine(progress, performance.now() - progress.startedAt));
  };
  const timer = setInterval(show, 200);
  return {
    end() {
      clearInterval(timer);
      process.stderr.write(clearLine);
    },
  };
}
