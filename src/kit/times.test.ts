import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { compileCheck } from './http/validation.ts';
import { firstIdAt } from './ids.ts';

describe('src/kit/times', () => {
  const check = compileCheck({ type: 'string', format: 'date-time' });
  let test: TestDatabase;
  beforeAll(async () => void (test = await createTestDatabase()));
  afterAll(() => test?.drop());

  it.each([
    '2026-01-31T09:30:00Z',
    '2026-01-31t09:30:00.123456789z',
    '2026-01-31 09:30:00.5+05:30',
    '2024-02-29T23:59:59-15:59',
    '2026-01-31T09:30:00-00:00',
    `2026-01-31T09:30:00.${'1'.repeat(20)}Z`,
    '1969-12-31T23:59:59.999Z',
    '1960-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
  ])('takes %s, which is the same moment in the database', async (time) => {
    expect(check(time, 'query').issues).toEqual([]);
    const rows = await test.database.raw(
      'SELECT trunc(extract(epoch FROM $1::timestamptz) * 1000)::text AS ms, svc_uuid_floor($1::timestamptz)::text AS first',
      [time],
    );
    expect(rows).toEqual([{ ms: String(Date.parse(time)), first: firstIdAt(time) }]);
  });

  it.each([
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['a zone without minutes', '2026-01-01T00:00:00+01'],
    ['no zone', '2026-01-01T00:00:00'],
    ['a zone that is none', '2026-01-01T00:00:00+16:00'],
    ['a plus that became a blank', '2026-01-01T00:00:00 01:00'],
    ['another separator', '2026-01-01\u00A000:00:00Z'],
    ['a day that is none', '2026-02-30T00:00:00Z'],
    ['a month that is none', '2026-13-01T00:00:00Z'],
    ['the hour after the last', '2026-01-01T24:00:00Z'],
    ['the year 0', '0000-12-31T23:59:59Z'],
    ['the year 0 of UTC', '0001-01-01T00:00:00+01:00'],
    ['the year 10000 of UTC', '9999-12-31T23:59:59-01:00'],
    ['more digits than the database reads', `2026-01-01T00:00:00.${'1'.repeat(130)}Z`],
    ['a number', '1767225600000'],
  ])('refuses %s', (_what, time) => {
    expect(check(time, 'query', 'from').issues).toMatchObject([
      { in: 'query', name: 'from', detail: expect.stringContaining('2026-01-31T09:30:00Z') },
    ]);
  });
});
