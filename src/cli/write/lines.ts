import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

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
 * keys whenever it is sent, also when lines were added to it. Ends when the signal says so.
 */
export async function* readLines(
  input: Readable,
  ground: KeyGround,
  signal: AbortSignal,
): AsyncGenerator<Line> {
  const seen = new Map<string, number>();
  let number = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity, signal })) {
    number += 1;
    if (text.trim() === '') continue;
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
    return { fault: `it is not JSON: ${(error as Error).message}` };
  }
}
