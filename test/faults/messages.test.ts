import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findRabbitmq } from '../rabbitmq.ts';
import type { PartReport } from './messages/report.ts';

const repository = join(import.meta.dirname, '../..');

/** The smallest size of a part of `npm run test:faults`. */
function runPart(part: string): Promise<{ report: PartReport; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['test/faults/main.ts', '--part', part, '--small', '--json'], {
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
        resolve({ report: JSON.parse(out) as PartReport, said });
      } catch {
        reject(new Error(`no report; it said last: ${said.slice(-3_000)}`));
      }
    });
  });
}

describe('test/faults/messages', () => {
  it('reads every version that stands at the end into a webhook and a table, whatever changes, fails and dies meanwhile', async () => {
    const { report, said } = await runPart('reads');
    if (!report.holds) process.stderr.write(said);
    expect(report).toMatchObject({
      violations: {
        missing: 0,
        missingInTable: 0,
        strangeInTable: 0,
        older: 0,
        twice: 0,
        uneven: 0,
        failed: 0,
        unverified: 0,
        changed: 0,
        stuck: 0,
      },
      holds: true,
    });
    expect(report.counts['contacts']).toBeGreaterThanOrEqual(1_000);
    expect(report.counts['merged']).toBeGreaterThan(0);
    expect(report.crashPoints['after-page']).toBeGreaterThanOrEqual(2);
  }, 300_000);

  it('delivers every message, the same bytes each time, to every kind of destination that fails, loses answers and is slow, whoever dies', async () => {
    const { report, said } = await runPart('deliveries');
    if (!report.holds) process.stderr.write(said);
    expect(report).toMatchObject({
      violations: {
        lost: 0,
        unsaid: 0,
        unverified: 0,
        changed: 0,
        wrong: 0,
        strange: 0,
        notReplayed: 0,
        miscounted: 0,
        notErased: 0,
        lostOfFile: 0,
        wrongInFile: 0,
        stuck: 0,
      },
      holds: true,
    });
    expect(report.counts['kept']).toBeGreaterThanOrEqual(800);
    const kinds = [
      's3',
      'postgres',
      'slack',
      'file',
      ...((await findRabbitmq()) === undefined ? [] : ['amqp']),
    ];
    expect(kinds.filter((kind) => (report.counts[kind] ?? 0) < 10)).toEqual([]);
    expect(report.counts['replayed']).toBeGreaterThanOrEqual(20);
    expect(report.kills).toBeGreaterThanOrEqual(3);
  }, 300_000);
});
