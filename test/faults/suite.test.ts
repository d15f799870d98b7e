import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { namesOfFaults } from './suite/provider-faults.ts';
import type { Report } from './suite/report.ts';

const repository = join(import.meta.dirname, '../..');

/** `npm run test:faults -- --part writes` at its usual size: 10,000 writes and 30 deaths of two nodes. */
function runSuite(): Promise<{ report: Report; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['test/faults/main.ts', '--part', 'writes', '--json'], {
      cwd: repository,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // The process under test ends its own children.
    onTestFinished(() => void child.kill('SIGTERM'));
    let [out, said] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('exit', () => {
      try {
        resolve({ report: JSON.parse(out) as Report, said });
      } catch {
        reject(new Error(`no report; it said last: ${said.slice(-3_000)}`));
      }
    });
  });
}

describe('test/faults/suite', () => {
  it('holds what is promised while providers lose answers and two nodes, their leases and their database die', async () => {
    const { report, said } = await runSuite();
    if (!report.holds) process.stderr.write(said);
    expect(report).toMatchObject({
      lost: 0,
      duplicates: 0,
      stuck: 0,
      falseSuccess: 0,
      falseFailure: 0,
      falseRefusal: 0,
      unknownResolvable: 0,
      unexplained: 0,
      outOfOrder: 0,
      torn: 0,
      overwritten: 0,
      holds: true,
    });
    expect(report.accepted).toBeGreaterThanOrEqual(10_000);
    expect(report.kills).toBeGreaterThanOrEqual(30);
    for (const hits of Object.values(report.crashPoints)) expect(hits).toBeGreaterThanOrEqual(2);
    expect(Object.keys(report.faults)).toEqual(expect.arrayContaining([...namesOfFaults]));
  }, 900_000);
});
