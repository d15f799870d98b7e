import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../test/free-port.ts';
import { startReceiver } from '../../test/receiver.ts';
import { openFolder, type Folder, type Ran } from './run.fixture.ts';

const key = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const body = JSON.stringify({
  action: 'read',
  objectName: 'people',
  groupRef: 'acme',
  resultInfo: { numRecords: 2 },
});
const headersAt = (at: Date) => ({
  'content-type': 'application/json',
  'webhook-id': 'm-1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(key).sign('m-1', at, body),
});

describe('cli/listen', () => {
  let at: Folder;
  let port: number;
  beforeEach(async () => {
    at = await openFolder();
    port = await freePort();
  });
  afterEach(() => at.close());

  /** Runs it, does something while it listens, and ends it as Ctrl+C does. */
  async function during(
    args: string[],
    env: Record<string, string>,
    work: () => Promise<void>,
  ): Promise<Ran> {
    let child: ChildProcess | undefined;
    const running = at.run(['listen', '--port', String(port), ...args], {
      env,
      started: (started) => (child = started),
    });
    try {
      await expect
        .poll(
          () =>
            fetch(`http://127.0.0.1:${port}`).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 20_000 },
        )
        .toBe(405);
      await work();
    } finally {
      child?.kill('SIGINT');
    }
    return running;
  }
  const post = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/any`, { method: 'POST', headers, body })).status;

  it('prints a delivery that is signed, refuses one that is not, and ends at Ctrl+C', async () => {
    const ran = await during([], { SVC_SIGNING_KEY: key }, async () => {
      expect(await post(headersAt(new Date()))).toBe(204);
      expect(await post(headersAt(new Date(0)))).toBe(400);
      expect(await post({})).toBe(400);
    });
    expect(ran).toMatchObject({ code: 0, out: 'm-1  read  people  acme  2 records  → 204\n' });
    expect(ran.err).toContain(`Listening on http://127.0.0.1:${port}; signatures are checked.`);
    expect(ran.err).toContain('more than five minutes from now');
  }, 60_000);

  it('passes it on byte for byte, with what its signature needs, and answers as that answered', async () => {
    const receiver = await startReceiver();
    const ran = await during(['--forward-to', receiver.url, '--json'], {}, async () => {
      expect(await post(headersAt(new Date()))).toBe(204);
      receiver.answer = 503;
      expect(await post(headersAt(new Date()))).toBe(503);
      await receiver.close();
      expect(await post(headersAt(new Date()))).toBe(502);
    });
    const [got] = receiver.received;
    expect(got?.text).toBe(body);
    expect(new Webhook(key).verify(got?.text ?? '', got?.headers as Record<string, string>)).toEqual(
      JSON.parse(body),
    );
    const told = ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: number });
    expect(told).toMatchObject([
      { id: 'm-1', status: 204, message: JSON.parse(body) as object },
      { status: 503 },
      { status: 502 },
    ]);
    expect(ran.err).toContain('svc is told 502 and sends it again.');
  }, 60_000);

  it('says why it cannot listen, or pass on', async () => {
    const taken = createServer().listen(port, '127.0.0.1');
    await once(taken, 'listening');
    expect(await at.run(['listen', '--port', String(port)])).toEqual({
      code: 2,
      out: '',
      err: `Port ${port} cannot be listened on: something else listens there.\nGive another: --port ${port + 1}.\n`,
    });
    taken.close();
    expect(await at.run(['listen', '--forward-to', 'here'])).toMatchObject({ code: 2, out: '' });
    expect(await at.run(['listen', '--port', '70000'])).toMatchObject({ code: 2, out: '' });
  }, 60_000);

  /** By the launcher of the sources, as where the Node of the system is too old for them. */
  function startByOlderNode(): ChildProcess {
    const older = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    const given = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
    return spawn(process.execPath, [...given, 'scripts/svc.mjs', 'listen', '--port', String(port)], {
      stdio: 'ignore',
      // A group of its own, as a terminal makes one.
      detached: true,
    });
  }
  const listens = () =>
    fetch(`http://127.0.0.1:${port}`).then(
      ({ status }) => status,
      () => 0,
    );

  it.each([
    ['a Ctrl+C of a terminal, which both get', (launcher: number) => process.kill(-launcher, 'SIGINT')],
    ['a signal to the launcher alone', (launcher: number) => process.kill(launcher, 'SIGINT')],
    [
      'a Ctrl+C that a parent passes on',
      async (launcher: number) => {
        process.kill(-launcher, 'SIGINT');
        await new Promise((go) => setTimeout(go, 5));
        process.kill(-launcher, 'SIGINT');
      },
    ],
  ])(
    'is ended by %s, where the system has an older Node',
    async (_, interrupt) => {
      const launcher = startByOlderNode();
      const ended = once(launcher, 'exit');
      await expect.poll(listens, { timeout: 20_000 }).toBe(405);
      await interrupt(launcher.pid ?? 0);
      expect(await ended).toEqual([0, null]);
    },
    60_000,
  );

  it('ends as its child ended, where the system has an older Node', async () => {
    const launcher = startByOlderNode();
    const ended = once(launcher, 'exit');
    await expect.poll(listens, { timeout: 20_000 }).toBe(405);
    const [child = ''] = execFileSync('pgrep', ['-P', String(launcher.pid)], { encoding: 'utf8' }).split(
      '\n',
    );
    process.kill(Number(child), 'SIGKILL');
    expect(await ended).toEqual([128 + 9, null]);
  }, 60_000);
});
