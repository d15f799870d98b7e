import { describe, expect, it } from 'vitest';
import { time } from './command.ts';

describe('cli/declare/command', () => {
  it.each([
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22T08:00', '2026-11-22T08:00:00.000Z'],
    ['2026-11-22T08:00:30.5', '2026-11-22T08:00:30.500Z'],
    ['2026-11-22T08:00:00+02:00', '2026-11-22T06:00:00.000Z'],
    ['2026-11-22T08:00:00Z', '2026-11-22T08:00:00.000Z'],
  ])('a time is in UTC unless it names a zone, wherever it is typed: %s', (text, meant) => {
    const before = process.env['TZ'];
    try {
      for (const zone of ['Asia/Tokyo', 'America/New_York']) {
        process.env['TZ'] = zone;
        expect(time(text)).toBe(meant);
      }
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });
});
