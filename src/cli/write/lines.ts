import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { firstInvalidByte } from '../../kit/utf8.ts';
import { refuseStrange } from './first-line.ts';

/** One line of NDJSON that is a record, or why it is none. */
export interface Line {
  number: number;
  /** Of its text. */
  bytes: number;
  key: string;
  record?: Record<string, unknown>;
  fault?: string;
}

/** What the key of a line derives from besides the line. */
export interface KeyGround {
  project: string;
  integration: string;
  object: string;
  group: string;
  type: string;
  upsertBy?: string;
  mode: string;
  /** A name that makes the keys new. */
  run?: string;
}

/**
 * The lines that are not empty. The key of a line is that of its text and of how often it came before, so that the same file gives the same
 * keys whenever it is sent, also when lines were added to it. Ends when the signal says so; throws where the first shows that the whole is
 * something else. `groundOf` is asked once, when there is a line.
 */
export async function* readLines(
  input: Readable,
  groundOf: (signal: AbortSignal) => Promise<KeyGround>,
  signal: AbortSignal,
  file?: string,
): AsyncGenerator<Line> {
  const seen = new Map<string, number>();
  let number = 0;
  let ground: KeyGround | undefined;
  // Each byte is one character here: text that is decoded hides what was wrong with it, and has more ends of lines than JSON.
  input.setEncoding('latin1');
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal })) {
    number += 1;
    const whole = Buffer.from(line, 'latin1');
    const bytes = number === 1 ? withoutMark(whole) : whole;
    const text = bytes.toString();
    if (text.trim() === '') continue;
    if (!ground) refuseStrange(bytes, file);
    ground ??= await groundOf(signal);
    const base = createHash('sha256')
      .update(JSON.stringify([ground, text.trim()]))
      .digest('base64url');
    const earlier = seen.get(base) ?? 0;
    seen.set(base, earlier + 1);
    const key = `line-${base}${earlier === 0 ? '' : `-${earlier + 1}`}`;
    yield { number, bytes: whole.length + 1, key, ...recordIn(bytes, text) };
  }
}

/** Some editors begin a file with the mark of UTF-8. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).toString() === '\uFEFF' ? bytes.subarray(3) : bytes;
}

function recordIn(bytes: Buffer, text: string): Pick<Line, 'record' | 'fault'> {
  if (!isUtf8(bytes))
    return { fault: `it is not UTF-8: byte ${firstInvalidByte(bytes)} (from 0). Save the file as UTF-8` };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { record: value as Record<string, unknown> };
    return { fault: 'it is not a JSON object' };
  } catch (error) {
    return {
      fault: text.trim().endsWith('},')
        ? 'it ends with a comma: each line stands alone'
        : `it is not JSON: ${withoutLine((error as Error).message)}`,
    };
  }
}

/** Of a line alone the parser tells line 1, beside the one that it is in the file. */
function withoutLine(fault: string): string {
  return fault.replace(/ \(line \d+ column \d+\)$/, '');
}
