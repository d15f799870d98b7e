import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

describe('kit/nearest', () => {
  const known = ['email', 'name', 'lastName', 'contacts'];

  it.each([
    ['emial', 'email'],
    ['mail', 'email'],
    ['EMAIL', 'email'],
    ['nmae', 'name'],
    ['lastname', 'lastName'],
    ['contcats', 'contacts'],
    ['contactz', 'contacts'],
    ['liame', undefined],
    ['phone', undefined],
    ['', undefined],
    ['x'.repeat(1_000), undefined],
  ])('of %j it was %j that was meant', (name, meant) => {
    expect(nearest(name, known)).toBe(meant);
  });
});
