import { describe, expect, it } from 'vitest';
import { Progress, progressLine } from './progress.ts';

describe('cli/write/progress', () => {
  it('tells of a file how much is done, and how long the rest takes', () => {
    const progress = new Progress('synchronous', 1000);
    expect(progressLine(progress, 0)).toBe(`[${' '.repeat(24)}] 0 %  0 written, 0 failed`);
    progress.wrote(200);
    progress.endedAs('failed', 2, 50);
    expect(progressLine(progress, 30_000)).toBe(
      `[######${' '.repeat(18)}] 25 %  1 written, 1 failed, 2 min left`,
    );
    progress.wrote(650);
    expect(progressLine(progress, 30_000)).toMatch(/ 90 %  2 written, 1 failed, 4 s left$/);
    progress.wrote(100);
    expect(progressLine(progress, 30_000)).toBe(`[${'#'.repeat(24)}] 100 %  3 written, 1 failed`);
  });

  it('is never beyond the end, since the last line may have no end', () => {
    const progress = new Progress('synchronous', 10);
    progress.wrote(11);
    expect(progressLine(progress, 1)).toContain('] 100 %');
  });

  it('tells of what is piped in how fast it goes', () => {
    const progress = new Progress('asynchronous');
    expect(progressLine(progress, 0)).toBe('0 accepted, 0 failed');
    for (let line = 0; line < 30; line += 1) progress.wrote(10);
    expect(progressLine(progress, 2_000)).toBe('30 accepted, 0 failed, 15 a second');
  });
});
