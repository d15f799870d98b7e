import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBatchWriter, type BatchWriterOptions } from './batch-writer.ts';
import { createLog } from './log.ts';

function writerTo(
  write: (rows: readonly string[]) => Promise<void>,
  more: Partial<BatchWriterOptions<string>> = {},
) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log = createLog('silent');
  return createBatchWriter<string>({ log, what: 'rows', write, rowsPerBatch: 2, mostWaiting: 10, ...more });
}

describe('kit/batch-writer', () => {
  it('writes what came meanwhile in batches, in order', async () => {
    const batches: string[][] = [];
    const writer = writerTo(async (rows) => void batches.push([...rows]));
    for (const row of ['a', 'b', 'c']) writer.add(row);
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(500);
    expect(batches).toEqual([['a', 'b'], ['c']]);
    writer.add('d');
    await vi.advanceTimersByTimeAsync(500);
    expect(batches.at(-1)).toEqual(['d']);
  });

  it('writes a failed batch again as it was', async () => {
    const batches: string[][] = [];
    const writer = writerTo(async (rows) => {
      batches.push([...rows]);
      if (batches.length === 1) throw new Error('the answer was lost');
    });
    writer.add('a');
    await vi.advanceTimersByTimeAsync(500);
    writer.add('b');
    await vi.advanceTimersByTimeAsync(500);
    expect(batches).toEqual([['a'], ['a'], ['b']]);
  });

  it('drops the oldest beyond its bound, by weight', async () => {
    const written: string[] = [];
    const writer = writerTo(async (rows) => void written.push(...rows), { weightOf: (row) => row.length });
    for (const row of ['aaaa', 'bbbb', 'c', 'd', 'e']) writer.add(row);
    await vi.advanceTimersByTimeAsync(500);
    expect(written).toEqual(['c', 'd', 'e']);
    for (const row of ['f', 'g']) writer.add(row);
    await vi.advanceTimersByTimeAsync(500);
    expect(written.slice(3)).toEqual(['f', 'g']);
  });

  it('writes the rest when it is closed, and gives up when that fails', async () => {
    const written: string[] = [];
    const writer = writerTo(async (rows) => void written.push(...rows));
    writer.add('a');
    await writer.close();
    expect(written).toEqual(['a']);
    const failing = writerTo(() => Promise.reject(new Error('no database')));
    failing.add('a');
    await failing.close();
  });
});
