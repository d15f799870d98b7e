import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { refuseStrange } from './first-line.ts';

/** One line of NDJSON that is a record, or why it is none. */
export interface Line {
  number: number;
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
 * something else.
 */
export async function* readLines(
  input: Readable,
  ground: KeyGround,
  signal: AbortSignal,
  file?: string,
): AsyncGenerator<Line> {
  const seen = new Map<string, number>();
  let number = 0;
  let isFirst = true;
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal })) {
    number += 1;
    // Some editors begin a file with the mark of UTF-8.
    const text = number === 1 ? line.replace(/^\uFEFF/, '') : line;
    if (text.trim() === '') continue;
    if (isFirst) refuseStrange(text.trim(), file);
    isFirst = false;
    const base = createHash('sha256')
      .update(JSON.stringify([ground, text.trim()]))
      .digest('base64url');
    const earlier = seen.get(base) ?? 0;
    seen.set(base, earlier + 1);
    yield { number, key: `line-${base}${earlier === 0 ? '' : `-${earlier + 1}`}`, ...recordIn(text) };
  }
}

function recordIn(text: string): Pick<Line, 'record' | 'fault'> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { record: value as Record<string, unknown> };
    return { fault: 'it is not a JSON object' };
  } catch (error) {
    return {
      fault: text.trim().endsWith('},')
        ? 'it ends with a comma: each line stands alone'
        : `it is not JSON: ${(error as Error).message}`,
    };
  }
}
