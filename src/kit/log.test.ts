import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog, isTextLog, readable } from './log.ts';

describe('kit/log', () => {
  const { isTTY } = process.stdout;
  afterEach(() => {
    process.stdout.isTTY = isTTY;
  });

  function logged(given: Record<string, unknown>): Record<string, unknown> {
    let line = '';
    const log = createLog('info', { destination: { write: (text) => (line = text) } });
    log.info(given, 'said');
    return JSON.parse(line) as Record<string, unknown>;
  }

  it('shows no secret at the first three depths, and changes nothing that it was given', () => {
    const secret = {
      accessToken: 's1',
      headers: { authorization: 's2', accept: '*' },
      a: { b: { code: 's3' } },
    };
    const line = logged({ ...secret, password: 's4', projectId: 'p' });
    expect(JSON.stringify(line)).not.toMatch(/s\d/);
    expect(line).toMatchObject({ accessToken: '[secret]', headers: { accept: '*' }, projectId: 'p' });
    expect(secret.headers.authorization).toBe('s2');
  });

  it('tells of an error without the values that it carries', () => {
    const err = Object.assign(new Error('broke', { cause: new Error('below') }), {
      code: 'E1',
      parameters: ['s5'],
    });
    const line = logged({ err });
    expect(line['err']).toMatchObject({ message: 'broke', errorCode: 'E1', cause: { message: 'below' } });
    expect(JSON.stringify(line)).not.toContain('s5');
  });

  it('tells of a cause that is an error, and of nothing else that an error carries as its cause', () => {
    const refused = new Error('the answer has no ID token', { cause: { body: { note: 's6' } } });
    const line = logged({ err: new Error('broke', { cause: refused }), error: refused });
    expect(line).toMatchObject({
      err: { cause: { message: refused.message } },
      error: { message: refused.message },
    });
    expect(JSON.stringify(line)).not.toContain('s6');
    expect(readable(JSON.stringify(line))).not.toContain('s6');
  });

  it('tells of an error that is its own cause, five causes deep', () => {
    const err = new Error('round');
    err.cause = err;
    expect(JSON.stringify(logged({ err })).match(/"round"/g)).toHaveLength(6);
  });

  it.each([
    [true, undefined, true],
    [false, undefined, false],
    [true, 'json', false],
    [false, 'text', true],
  ] as const)('with a terminal %s, and told %s, it is for readers: %s', (terminal, format, readers) => {
    process.stdout.isTTY = terminal;
    expect(isTextLog(format)).toBe(readers);
  });

  it('is a line to be read for a terminal', () => {
    const json = {
      level: 40,
      time: '2026-01-02T03:04:05.678Z',
      projectId: 'p',
      attempts: 2,
      msg: 'an operation failed',
    };
    expect(readable(JSON.stringify(json))).toBe(
      '03:04:05.678  WARN   an operation failed  projectId=p  attempts=2',
    );
    const err = { message: 'broke', stack: 'Error: broke\n    at here', cause: { message: 'below' } };
    expect(readable(JSON.stringify({ ...json, err }))).toMatch(/error=broke\n {4}at here\n.*below/);
  });

  it.each(['json', 'text'])(
    'neither fills the memory nor holds the end of a process while nobody reads: %s',
    async (format) => {
      const door = JSON.stringify(new URL('log.ts', import.meta.url).href);
      const script = `const { createLog } = await import(${door});
        const log = createLog('info', { format: '${format}' });
        for (let n = 0; n < 80_000; n += 1) {
          log.info({ line: 'x'.repeat(1_000) }, 'said');
          if (n % 1_000 === 0) await new Promise(setImmediate);
        }
        process.exit(0);`;
      const options = ['--max-old-space-size=48', '--input-type=module', '-e', script];
      const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'ignore'] });
      try {
        expect(await once(child, 'exit')).toEqual([0, null]);
      } finally {
        child.kill('SIGKILL');
      }
    },
    30_000,
  );
});
