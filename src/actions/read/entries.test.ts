import { describe, expect, it } from 'vitest';
import { parseJson } from '../../kit/json.ts';
import type { ReadRecord } from '../../providers/index.ts';
import { entriesInTurns, entriesOf, seenIn } from './entries.ts';
import type { Shape } from './shape.ts';

const shape: Shape = {
  fields: ['email'],
  missing: [],
  entryOf: ({ fields, raw }) => ({ fields, mappedFields: {}, raw }),
};
const record = (id: string, version: string): ReadRecord => ({
  id,
  version,
  fields: {},
  raw: parseJson(`{"id":"${id}","size":12.50}`) as Record<string, unknown>,
});
const choice = { shape, deleted: false, seen: seenIn([]), repeatedFrom: undefined };
const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const repeatedFrom = Date.parse(at(30));

describe('actions/read/entries', () => {
  it('keeps the digits of numbers, and tells the version so that a later one sorts after it', () => {
    const { entries } = entriesOf([record('1', '2026-01-01T00:00:00Z'), record('2', 'abc')], choice);
    expect(entries.map(({ json }) => json)).toEqual([
      '{"fields":{},"mappedFields":{},"raw":{"id":"1","size":12.50}}',
      '{"fields":{},"mappedFields":{},"raw":{"id":"2","size":12.50}}',
    ]);
    expect(entries.map(({ key }) => key)).toEqual([
      { id: '1', version: '2026-01-01T00:00:00.000Z', deleted: false },
      { id: '2', version: '', deleted: false },
    ]);
  });

  it('makes the same of a large page, with turns of the event loop between', async () => {
    const records = Array.from({ length: 120 }, (_record, n) => record(String(n), at(40)));
    const counted = entriesInTurns(records, { ...choice, repeatedFrom });
    let others = 0;
    setImmediate(() => (others += 1));
    expect(await counted).toEqual(entriesOf(records, { ...choice, repeatedFrom }));
    expect(others).toBe(1);
  });

  it('delivers a deleted record as such', () => {
    const { entries } = entriesOf([record('1', at(1))], { ...choice, deleted: true });
    expect(entries[0]?.json).toBe('{"id":"1","deleted":true,"raw":{"id":"1","size":12.50}}');
    expect(entries[0]?.key.deleted).toBe(true);
  });

  it('leaves out what the run before delivered, by id and version', () => {
    const before = entriesOf([record('1', at(40)), record('2', at(41)), record('3', at(20))], {
      ...choice,
      repeatedFrom,
    });
    // The third lies before what the next run looks at.
    expect(before.hashes.length).toBe(24);
    const { entries } = entriesOf(
      [record('1', at(40)), record('2', at(50)), record('3', at(20)), record('4', at(40))],
      { ...choice, seen: seenIn([before.hashes]) },
    );
    expect(entries.map(({ key }) => key.id)).toEqual(['2', '3', '4']);
  });

  it('delivers another change of the second that a time tells', () => {
    const changed = { ...record('1', at(40)), fields: { email: 'later' } };
    const before = entriesOf([record('1', at(40))], { ...choice, repeatedFrom });
    const next = { ...choice, seen: seenIn([before.hashes]), repeatedFrom };
    const second = entriesOf([changed], next);
    expect(second.entries).toHaveLength(1);
    expect(entriesOf([changed], { ...next, seen: seenIn([second.hashes]) }).entries).toEqual([]);
  });

  it('remembers what it leaves out, since the run after next finds it again, too', () => {
    const first = entriesOf([record('1', at(40))], { ...choice, repeatedFrom });
    const second = entriesOf([record('1', at(40))], {
      ...choice,
      seen: seenIn([first.hashes]),
      repeatedFrom,
    });
    expect(second.entries).toEqual([]);
    expect(second.hashes).toEqual(first.hashes);
  });

  it('does not take the deletion of a record for its last version', () => {
    const live = entriesOf([record('1', at(40))], { ...choice, repeatedFrom });
    const gone = entriesOf([record('1', at(40))], { ...choice, deleted: true, seen: seenIn([live.hashes]) });
    expect(gone.entries).toHaveLength(1);
  });
});
