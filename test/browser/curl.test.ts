import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { curlOf, quoted } from '../../ui/console/src/data/curl.ts';
import { hostile } from '../../ui/embed/gallery/hostile.ts';

const run = promisify(execFile);

/** Texts that end a word, a string or a command, or that a shell expands. */
const harmful = [
  '',
  ' ',
  "'",
  "''",
  `'"'"'`,
  `'; touch ran; '`,
  '$(touch ran)',
  '`touch ran`',
  '${HOME}',
  '$HOME',
  '!!',
  '!$',
  '*',
  '?',
  '~',
  '{a,b}',
  '[a-z]',
  '\\',
  '\\\\',
  "\\'",
  '\\n',
  'a\\\nb',
  '\n',
  'a\n\n',
  '\r\n',
  '\t',
  '#',
  '-o ran',
  '@/etc/passwd',
  '&& touch ran',
  '| touch ran',
  '> ran',
  '%s %d',
  "$'\\x27'",
  '\u001b[201~; touch ran\n',
  '\u0003\u0004\u007f\u009b',
  '\u202Eover',
  'Ж👩‍👩‍👧‍👦',
];

describe.each(['sh', 'bash'])('test/browser/curl in %s', (shell) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-curl-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const inShell = async (script: string): Promise<string> => {
    const env = { PATH: process.env['PATH'], TOKEN: 'secret$HOME' };
    return (await run(shell, ['-c', script], { cwd: folder, env })).stdout;
  };
  /** The words that the shell makes of a command. */
  const wordsOf = async (command: string): Promise<string[]> => {
    const told = await inShell(`curl() { for word; do printf '%s\\0' "$word"; done; }\n${command}`);
    return told.split('\0').slice(0, -1);
  };

  it('takes hostile texts as words, and runs nothing of them', async () => {
    const texts = [...harmful, ...hostile];
    expect(await wordsOf(`curl ${texts.map(quoted).join(' ')}`)).toEqual(texts);
    expect(await readdir(folder)).toEqual([]);
  });

  it('makes of hostile parts one request', async () => {
    const commands = harmful.map((text) => {
      const headers = { 'X-Told': text, 'X-Many': [text, 'b'], authorization: 'never', host: 'never' };
      const path = `/a${text}`;
      return curlOf({ method: 'PATCH', base: 'https://{{workspace}}.example', path, headers, body: text });
    });
    const expected = harmful.map((text) => {
      const value = text === '' ? ';' : `: ${text}`;
      const headersOf = [
        'Authorization: Bearer secret$HOME',
        `X-Told${value}`,
        `X-Many${value}`,
        'X-Many: b',
      ];
      return [
        '--globoff',
        '--path-as-is',
        '-X',
        'PATCH',
        `https://acme.example/a${text}`,
        ...headersOf.concat('Content-Type:').flatMap((line) => ['-H', line]),
        '--data-raw',
        text,
      ];
    });
    expect(await wordsOf(['WORKSPACE=acme', ...commands].join('\n'))).toEqual(expected.flat());
    expect(await readdir(folder)).toEqual([]);
  });

  it('is sent by curl as it was', async () => {
    const seen: { request: IncomingMessage; body: string }[] = [];
    const server = createServer((request, response) => {
      const take = async (): Promise<void> => {
        seen.push({ request, body: await textOf(request) });
        response.end('taken');
      };
      void take();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const path = '/a/../b?q=[1-3]{x,y}';
    const headers = { 'content-type': 'application/json', 'x-empty': '' };
    const body = JSON.stringify({ texts: harmful });
    expect(await inShell(curlOf({ method: 'POST', base, path, headers, body }))).toBe('taken');
    expect(await inShell(curlOf({ method: 'GET', base, path: '/none' }))).toBe('taken');
    server.close();
    const [sent, none] = seen;
    expect([sent?.request.method, sent?.request.url, sent?.body]).toEqual(['POST', path, body]);
    expect(sent?.request.headers).toMatchObject({ ...headers, authorization: 'Bearer secret$HOME' });
    expect([none?.request.method, none?.request.url, none?.body]).toEqual(['GET', '/none', '']);
  });
});
