import { describe, expect, test } from 'vitest';
import { ByteBlocks } from './byte-blocks.ts';

const mebibyte = 1024 * 1024;

function filledBy(sizes: readonly number[]): { blocks: ByteBlocks; sent: Buffer } {
  const blocks = new ByteBlocks();
  const sent = Buffer.from(
    Array.from({ length: sizes.reduce((a, b) => a + b, 0) }, (_, index) => index % 251),
  );
  let at = 0;
  for (const size of sizes) blocks.add(sent.subarray(at, (at += size)));
  return { blocks, sent };
}

/** The memory behind the parts, without what the first chunk is a part of. */
function memoryOf(blocks: ByteBlocks): number {
  const [first, ...others] = blocks.parts();
  const backing = new Set(others.map(({ buffer }) => buffer).filter((buffer) => buffer !== first?.buffer));
  return [...backing].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

describe('kit/http/byte-blocks', () => {
  test('holds nothing once it is cleared', () => {
    const blocks = new ByteBlocks();
    for (const text of ['a', 'b', 'c']) blocks.add(Buffer.from(text));
    blocks.clear();
    expect([blocks.length, blocks.parts().length, blocks.whole().length]).toEqual([0, 0, 0]);
    blocks.add(Buffer.from('d'));
    expect(blocks.whole().toString()).toBe('d');
  });

  test.each([
    [[]],
    [[5]],
    [[0, 5]],
    [[1, 1, 1]],
    [[100, 20_000, 1, 20_000, 1]],
    [[1, 1023, 1, 16 * 1024, 70_000, 3]],
    [Array.from({ length: 5_000 }, (_, index) => index % 40)],
  ])('holds what came, in its order %#', (sizes) => {
    const { blocks, sent } = filledBy(sizes);
    expect(blocks.length).toBe(sent.length);
    expect(blocks.whole().equals(sent)).toBe(true);
    expect(Buffer.concat(blocks.parts()).equals(sent)).toBe(true);
    expect(blocks.whole().equals(sent)).toBe(true);
  });

  test('one chunk is not copied', () => {
    const chunk = Buffer.from('{"a":1}');
    const blocks = new ByteBlocks();
    blocks.add(chunk);
    expect(blocks.whole()).toBe(chunk);
  });

  test('chunks of one byte take few parts and at most twice their memory', () => {
    const { blocks } = filledBy(Array.from({ length: mebibyte }, () => 1));
    expect(blocks.parts().length).toBeLessThan(30);
    expect(memoryOf(blocks)).toBeLessThan(2 * mebibyte);
  });

  test('small and large chunks in turn leave no block empty', () => {
    const { blocks, sent } = filledBy(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? 1 : 17_000)),
    );
    expect(memoryOf(blocks)).toBeLessThan(sent.length + 64 * 1024);
  });
});
