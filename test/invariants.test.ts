import { describe, expect, it } from 'vitest';
import '../src/app.ts';
import { declaredStatements } from '../src/kit/db/statement.ts';

describe('test/invariants', () => {
  it('no statement of the product notifies', () => {
    const statements = declaredStatements();
    expect(statements.length).toBeGreaterThan(100);
    expect(statements.filter(({ text }) => /\bnotify\b|pg_notify/i.test(text))).toEqual([]);
  });
});
