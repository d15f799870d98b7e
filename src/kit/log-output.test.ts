import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LogOutput } from './log-output.ts';

describe('src/kit/log-output', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const flushed = (output: LogOutput): Promise<void> => new Promise((resolve) => output.flush(resolve));

  it('writes every line once and in order, whatever is flushed when', async () => {
    const path = join(folder, 'whole');
    const fd = openSync(path, 'w');
    const output = new LogOutput(fd);
    const lines = Array.from({ length: 5_000 }, (_, n) => `${n} ${'é'.repeat(n % 90)}\n`);
    for (const [n, line] of lines.entries()) {
      output.write(line);
      if (n % 997 === 0) await flushed(output);
    }
    await flushed(output);
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
    output.write('last\n');
    output.flushSync();
    await flushed(output);
    expect(readFileSync(path, 'utf8').endsWith('last\n')).toBe(true);
    closeSync(fd);
  });

  it('stops nobody where nothing can be written', async () => {
    const fd = openSync('/dev/full', 'w');
    const output = new LogOutput(fd);
    const write = (): void => {
      for (let n = 0; n < 100; n += 1) {
        output.write(`${'x'.repeat(1_000_000)}\n`);
        output.flushSync();
      }
    };
    expect(write).not.toThrow();
    await expect(flushed(output)).resolves.toBeUndefined();
    closeSync(fd);
  });
});
