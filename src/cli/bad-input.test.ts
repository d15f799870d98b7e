import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { freePort } from '../../test/free-port.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { openFolder, svc, type Folder, type Ran } from './run.fixture.ts';
import { withNew } from './new-file.ts';
import { writeText } from './text-file.ts';

describe('cli/bad-input', () => {
  let test: TestDatabase;
  let platform: Platform;
  let at: Folder;
  let stranger: Server;
  let answer: { status: number; type: string; body: string };

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    at = await openFolder({
      'svc.yaml':
        'specVersion: 1.0.0\nintegrations: [{ name: a, provider: hubspot, proxy: { enabled: true } }]\n',
      'broken.yaml': 'specVersion: [1\n',
      x: '{"format":"svc-project"}',
    });
    stranger = createServer((_request, response) => {
      response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
    }).listen(0, '127.0.0.1');
  }, 120_000);
  afterAll(async () => {
    stranger?.close();
    await at?.close();
    await platform?.stop();
    await test?.drop();
  });

  /** One sentence, and one remedy; never a stack. */
  function expectSaid({ err }: Ran, args: string[]): void {
    const lines = err.trim().split('\n');
    if (lines.length < 2 || /\n\s+at |node:internal|\[object/.test(err))
      throw new Error(`svc ${args.join(' ')} said: ${err}`);
  }

  it('a key that has expired is told as one', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const made = await platform.call<{ key: string }>('POST', `/projects/default/api-keys`, {
      label: 'short',
      expiresAt,
    });
    await new Promise((go) => setTimeout(go, 2_000));
    const env = { SVC_API_URL: platform.base, SVC_API_KEY: made.body.key };
    const ran = await at.run(['keys', 'list'], { env });
    expect(ran).toMatchObject({ code: 3, out: '', err: expect.stringContaining('svc login') as string });
  }, 30_000);

  it('a profile that is named is what a command takes, whatever is exported', async () => {
    const input = `${platform.apiKey}\n`;
    expect((await at.run(['login', '--profile', 'named', '--url', platform.base], { input })).code).toBe(0);
    const env = { SVC_API_URL: 'http://127.0.0.1:9', SVC_API_KEY: 'svc_another_key', SVC_PROJECT: 'another' };
    expect(await at.run(['keys', 'list', '--profile', 'named'], { env })).toMatchObject({ code: 0, err: '' });
    for (const command of [['keys', 'list'], ['doctor']]) {
      const ran = await at.run([...command, '--profile', 'nmaed'], { env });
      expect(ran).toMatchObject({ code: 3, err: expect.stringContaining('What is there: named.') as string });
    }
  }, 30_000);

  it.each([
    ['an unknown project', 1, ['keys', 'list', '--project', 'nobody'], 'nobody'],
    ['a profile that is not there', 3, ['keys', 'list', '--profile', 'nobody'], 'svc login'],
    ['a file that is not there', 2, ['plan', 'nowhere.yaml'], 'there is no such file'],
    ['a folder for a file', 2, ['deploy', '.'], 'it is a folder'],
    ['broken YAML', 1, ['plan', 'broken.yaml'], 'Correct what is marked'],
    ['nobody to ask', 2, ['destinations', 'delete', 'x'], 'Say --yes'],
    ['nothing that narrows', 2, ['operations', 'cancel', '--yes'], 'Say which'],
    ['one and many', 2, ['operations', 'retry', 'x', '-g', 'acme'], 'exclude one another'],
    ['a file that is no export', 2, ['import', 'svc.yaml'], 'is no export of a project'],
    ['an export that is not there', 2, ['import', 'nowhere.svc'], 'nowhere.svc cannot be read'],
    ['no passphrase', 2, ['export', 'new.svc'], 'No passphrase was given.'],
    [
      'nobody to ask before a move',
      2,
      ['export', 'new.svc', '--move'],
      'Nothing was exported. Nobody can be asked',
    ],
    ['a move and its undoing', 2, ['export', '--move', '--undo'], 'exclude one another'],
    ['an id that is none', 1, ['deliveries', 'get', 'x'], 'x'],
    ['an option that is none', 2, ['keys', 'list', '--lmit', '3'], '--limit'],
    ['a number that is none', 2, ['keys', 'list', '--limit', 'ten'], 'whole number'],
    ['a time that is none', 2, ['read', 'a', 'b', '-g', 'c', '--since', 'yesterday'], '2026-11-22T08:00:00Z'],
    [
      'an address that is none',
      2,
      ['keys', 'list', '--url', 'localhost:4000'],
      'not the address of a server',
    ],
  ] as const)(
    '%s',
    async (_what, code, args, said) => {
      const env = { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey };
      const ran = await at.run(args, { env });
      expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(said) as string });
      expectSaid(ran, [...args]);
    },
    30_000,
  );

  it.each([
    ['usage', ['plan', 'nowhere.yaml']],
    ['usage', ['export', 'new.svc', '--move']],
    ['manifest-invalid', ['deploy', 'broken.yaml']],
    ['unauthenticated', ['keys', 'list', '--profile', 'nobody']],
    ['unreachable', ['keys', 'list', '--url', 'http://127.0.0.1:9']],
  ] as const)('with --json every failure has a code: %s of %j', async (code, args) => {
    const env = { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey };
    const { err } = await at.run([...args, '--json'], { env });
    expect(JSON.parse(err)).toMatchObject({ error: { code } });
  });

  it.each([
    ['--project default deploy', '--project', 'svc deploy … --project <name>'],
    ['-y deploy', '-y', 'svc deploy … -y'],
  ])('an option before the command is told to stand behind it: svc %s', async (words, option, written) => {
    const { code, err } = await at.run(words.split(' '));
    expect(code).toBe(2);
    expect(err).toBe(
      `Options stand behind the command, and ${option} stands before it.\nWrite it such as ${written}\n`,
    );
  });

  it.each([
    ['a server that is away', 4, undefined, 'ECONNREFUSED'],
    [
      'an older server',
      1,
      {
        status: 404,
        type: 'application/problem+json',
        body: '{"code":"route-not-found","status":404,"detail":"There is no such route.","remedy":"See /docs."}',
      },
      'The server is older than this command',
    ],
    [
      'something else that answers there',
      4,
      { status: 200, type: 'text/html', body: '<html>' },
      'Check the address',
    ],
    ['a gateway in front', 4, { status: 502, type: 'text/html', body: '<html>' }, 'answered 502'],
  ] as const)(
    '%s',
    async (_what, code, answered, said) => {
      if (answered) answer = answered;
      const port = answered ? (stranger.address() as AddressInfo).port : await freePort();
      const env = { SVC_API_URL: `http://127.0.0.1:${port}`, SVC_API_KEY: 'svc_any' };
      for (const args of [['keys', 'list'], ['plan'], ['operations', 'get', 'x']]) {
        const ran = await at.run(args, { env });
        expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(said) as string });
        expectSaid(ran, args);
      }
    },
    90_000,
  );

  it('a command that writes a file makes none of the name -', async () => {
    const written = [writeText('-', 'x'), withNew('-', async () => undefined)];
    for (const one of written) await expect(one).rejects.toThrow('- names no file.');
    expect(existsSync('-')).toBe(false);
  });

  it('an audit log that breaks off leaves no file behind, and is not called whole', async () => {
    const breaking = createServer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/x-ndjson; charset=utf-8',
        'x-request-id': '1',
      });
      response.write('{"id":"1"}\n', () => setTimeout(() => response.destroy(), 100));
    }).listen(0, '127.0.0.1');
    await once(breaking, 'listening');
    const url = `http://127.0.0.1:${(breaking.address() as AddressInfo).port}`;
    const ran = await at.run(['audit', 'export', 'log.ndjson'], {
      env: { SVC_API_URL: url, SVC_API_KEY: 'svc_any' },
    });
    breaking.close();
    expect(ran).toMatchObject({ code: 4, out: '', err: expect.stringContaining('broke off') as string });
    expectSaid(ran, ['audit', 'export']);
    expect(existsSync(join(at.folder, 'log.ndjson'))).toBe(false);
  }, 30_000);

  it.runIf(existsSync('/dev/full'))(
    'an output that is full is told in one sentence',
    async () => {
      const { PATH = '' } = process.env;
      const full = promisify(execFile)(
        'sh',
        ['-c', '"$0" "$1" keys list > /dev/full', process.execPath, svc],
        {
          env: { PATH, HOME: at.folder, SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey },
        },
      );
      await expect(full).rejects.toMatchObject({
        code: 1,
        stderr: 'The output could not be written: the disk is full.\nMake room, or write it elsewhere.\n',
      });
    },
    30_000,
  );
});
