import { describe, expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const kibibyte = 1024;
const most = {
  small: 128 * kibibyte,
  large: 1000 * kibibyte,
  anybody: 32 * kibibyte,
  proxied: 64 * kibibyte,
};

describe('kit/http/body-budget', () => {
  test('takes what fits, refuses the rest, and has room again when a body ends', () => {
    const budget = createBodyBudget(most);
    const [first, second] = [budget.open('known'), budget.open('known')];
    expect(first.take(600 * kibibyte)).toBe(true);
    expect(second.take(300 * kibibyte)).toBe(true);
    expect(second.take(200 * kibibyte)).toBe(false);
    first.end();
    first.end();
    expect(second.take(200 * kibibyte)).toBe(true);
    expect(budget.used()).toBe(500 * kibibyte);
    second.end();
    expect(budget.used()).toBe(0);
  });

  test('what proxied calls keep takes no room from bodies that are wanted', () => {
    const budget = createBodyBudget(most);
    expect(budget.open('proxied').take(64 * kibibyte)).toBe(true);
    expect(budget.open('proxied').take(1)).toBe(false);
    expect(budget.open('known').take(64 * kibibyte)).toBe(true);
    expect(budget.open('known').take(64 * kibibyte)).toBe(true);
    expect(budget.used()).toBe(192 * kibibyte);
  });

  test('small bodies pass while large ones have used up theirs, and anybody’s do not count among them', () => {
    const budget = createBodyBudget(most);
    expect(budget.open('known').take(1000 * kibibyte)).toBe(true);
    const anybody = budget.open('anybody');
    expect(anybody.take(32 * kibibyte)).toBe(true);
    expect(budget.open('anybody').take(1)).toBe(false);
    const small = budget.open('known');
    expect(small.take(64 * kibibyte)).toBe(true);
    // It would be a large one.
    expect(small.take(1)).toBe(false);
    expect(budget.open('known').take(64 * kibibyte)).toBe(true);
    expect(budget.open('known').take(1)).toBe(false);
  });

  test('a body that grows leaves the part of the small ones', () => {
    const budget = createBodyBudget(most);
    const one = budget.open('known');
    for (let count = 0; count < 100; count += 1) expect(one.take(kibibyte)).toBe(true);
    for (let count = 0; count < 2; count += 1) expect(budget.open('known').take(64 * kibibyte)).toBe(true);
    expect(budget.used()).toBe(228 * kibibyte);
  });

  test('a body alone has room, however large it is', () => {
    const budget = createBodyBudget(most);
    const one = budget.open('known');
    expect(one.take(900 * kibibyte)).toBe(true);
    expect(one.take(900 * kibibyte)).toBe(true);
    expect(budget.open('known').take(65 * kibibyte)).toBe(false);
  });
});
