import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnName, qualified, tableName } from './names.ts';

describe('src/deliveries/postgres/names', () => {
  it.each(['email', 'First Name', 'select', 'a"b', "a'; DROP TABLE x; --", '😀', 'ünï', 'a.b', '1st'])(
    'keeps %s as it is',
    (name) => {
      expect([columnName(name), tableName('', name)]).toEqual([name, name]);
    },
  );

  it.each([
    '',
    'a\0b',
    '\ud800',
    'x'.repeat(64),
    '😀'.repeat(16),
    'raw',
    'ctid',
    '_svc_version',
    'record_id',
  ])('gives another name to the field %j', (name) => {
    const column = columnName(name);
    expect(column).toMatch(/_x[0-9a-f]{10}$/);
    expect(Buffer.byteLength(column)).toBeLessThanOrEqual(63);
    expect(columnName(column)).not.toBe(column);
  });

  it('takes nothing from a table that only columns have taken', () => {
    expect(tableName('', 'fields')).toBe('fields');
    expect(tableName('crm_', 'contacts')).toBe('crm_contacts');
  });

  it('quotes', () => {
    expect(qualified('a"b', 'c.d')).toBe('"a""b"."c.d"');
  });

  it('makes two names of two fields, and names that PostgreSQL keeps', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '😀', '_'), maxLength: 70 }),
    );
    fc.assert(
      fc.property(text, text, (one, other) => {
        const column = columnName(one);
        expect(column === columnName(other)).toBe(one === other);
        expect(column).not.toBe('');
        expect(Buffer.byteLength(column)).toBeLessThanOrEqual(63);
        expect(column).not.toContain('\0');
        expect(column.isWellFormed()).toBe(true);
      }),
    );
  });
});
