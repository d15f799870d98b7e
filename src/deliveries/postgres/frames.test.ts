import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Frames } from './frames.ts';

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const message = (letter: string, ...parts: (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(letter), int32(4 + body.length), body]);
};

const column = ['name\0', Buffer.alloc(18)];
const good = [
  message('R', int32(10), 'SCRAM-SHA-256\0\0'),
  message('R', int32(11), 'r=nonce,s=salt,i=4096'),
  message('R', int32(5), 'salt'),
  message('R', int32(0)),
  message('S', 'server_version\0', '18.4\0'),
  message('K', int32(1), int32(2)),
  message('Z', 'I'),
  message('T', int16(2), ...column, ...column),
  message('D', int16(3), int32(2), 'ab', int32(-1), int32(0)),
  message('C', 'SELECT 1\0'),
  message('E', 'SERROR\0C42501\0Mno\0\0'),
  message('N', '\0'),
  message('t', int16(1), int32(25)),
  ...['1', '2', '3', 'n', 'I'].map((letter) => message(letter)),
];

function isRefused(bytes: Buffer): boolean {
  try {
    new Frames().take(bytes);
    return false;
  } catch (error) {
    return /does not speak as PostgreSQL/.test(String(error));
  }
}

describe('src/deliveries/postgres/frames', () => {
  it('lets through whole what a server says, however it is cut', () => {
    const all = Buffer.concat(good);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (sizes) => {
        const frames = new Frames();
        const read: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, all.length]) {
          read.push(frames.take(all.subarray(at, at + size)));
          at += size;
        }
        expect(Buffer.concat(read)).toEqual(all);
      }),
    );
  });

  it('costs four times as much for four times as long a message in bytes, not sixteen times', () => {
    const costOf = (bytes: number): number => {
      const whole = message('S', Buffer.alloc(bytes, 'a'), '\0b\0');
      const frames = new Frames();
      const startedAt = performance.now();
      let read = 0;
      for (let at = 0; at < whole.length; at += 1) read += frames.take(whole.subarray(at, at + 1)).length;
      expect(read).toBe(whole.length);
      return performance.now() - startedAt;
    };
    costOf(100_000);
    const short = Math.min(...[1, 2, 3].map(() => costOf(100_000)));
    expect(Math.min(...[1, 2, 3].map(() => costOf(400_000)))).toBeLessThan(12 * short);
  });

  it('refuses what would keep the driver in a loop or make it throw', () => {
    const bad = [
      message('E', 'SFATAL\0'),
      message('E', 'SFATAL'),
      message('E'),
      message('S', 'name\0value'),
      message('C', 'SELECT 1'),
      message('T', int16(2), ...column),
      message('T', int16(1), 'name', Buffer.alloc(18)),
      message('D', int16(1), int32(9), 'ab'),
      message('D', int16(1)),
      message('R', int32(10), 'SCRAM-SHA-256'),
      message('R', int32(5)),
      message('R'),
      message('Z'),
      message('K', int32(1)),
      message('1', 'more'),
      message('G', Buffer.alloc(3)),
      message('A', int32(1), 'channel\0payload\0'),
      Buffer.concat([Buffer.from('Z'), int32(3)]),
      Buffer.from('HTTP/1.1 400 Bad Request'),
    ];
    const passed = bad.filter((one) => !isRefused(one));
    expect(passed.map((one) => one.toString('latin1'))).toEqual([]);
    expect(good.filter(isRefused)).toEqual([]);
  });

  it('refuses what never ends, and counts anew for each use', () => {
    const frames = new Frames();
    const megabyte = message('S', Buffer.alloc(999_000, 'a'), '\0b\0');
    const most = 4;
    for (let at = 0; at < most; at += 1) frames.take(megabyte);
    expect(() => frames.take(megabyte)).toThrow(/more than/);
    frames.renew();
    expect(frames.take(message('Z', 'I'))).toHaveLength(6);
  });
});
