import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Seen {
  id?: string;
  event: string;
  data: { changes?: { type: string; id: string; status?: string }[]; more?: string[] };
}

/** A client of the stream that notes all it is told. */
class Follower {
  readonly seen: Seen[] = [];
  status = 0;
  type: string | null = null;
  isOver = false;
  private readonly abort = new AbortController();

  async follow(base: string, key: string, lastId?: string): Promise<this> {
    const answer = await fetch(`${base}/v1/projects/default/stream`, {
      headers: { 'x-api-key': key, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
      signal: this.abort.signal,
    });
    this.status = answer.status;
    this.type = answer.headers.get('content-type');
    if (answer.status === 200) void this.read(answer).catch(() => (this.isOver = true));
    return this;
  }

  private async read(answer: Response): Promise<void> {
    let text = '';
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.take(block);
    }
    this.isOver = true;
  }

  private take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
    const event = fields.get('event');
    if (event === undefined) return;
    const id = fields.get('id');
    const data = JSON.parse(fields.get('data') ?? '{}') as Seen['data'];
    this.seen.push({ event, data, ...(id === undefined ? {} : { id }) });
  }

  changes() {
    return this.seen.flatMap(({ data }) => data.changes ?? []);
  }
  of(id: string): (string | undefined)[] {
    return this.changes().flatMap((one) => (one.id === id ? [one.status] : []));
  }
  resyncs(): number {
    return this.seen.filter(({ event }) => event === 'resync').length;
  }
  end(): void {
    this.abort.abort();
  }
}

describe('test/journeys/stream', () => {
  let test: TestDatabase;
  let one: Platform;
  let other: Platform;
  let acme: Customer;
  let globex: Customer;
  const open: Follower[] = [];
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    one = await startPlatform({ databaseUrl: test.url, env: { SVC_STREAMS_PER_CALLER: '5' } });
    other = await startPlatform({ databaseUrl: test.url, beside: one });
    await deploy(one);
    acme = await install(one, 'hubspot-crm', 'acme');
    globex = await install(one, 'hubspot-crm', 'globex');
  });
  afterAll(async () => {
    for (const follower of open) follower.end();
    await other?.stop();
    await one?.stop();
    await test?.drop();
  });

  async function follow(platform: Platform, as = platform.apiKey, lastId?: string): Promise<Follower> {
    const follower = await new Follower().follow(platform.base, as, lastId);
    open.push(follower);
    return follower;
  }
  /** Waits until all nodes know that there is a stream. */
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_100));
  const create = (customer: Customer, more: Record<string, unknown> = {}) =>
    customer.write('contacts', { type: 'create', record: { email: `l${++count}@example.com` }, ...more });
  async function key(given: Record<string, unknown>): Promise<{ id: string; key: string }> {
    const made = await one.call<{ id: string; key: string }>('POST', '/projects/default/api-keys', {
      label: `stream ${++count}`,
      scopes: ['read'],
      ...given,
    });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    return made.body;
  }

  it('tells on each node of a write on any of them, and of its end', async () => {
    const [here, there] = [await follow(one), await follow(other)];
    await settled();
    const { operationId } = (await create(acme, { mode: 'asynchronous' })).body;
    for (const follower of [here, there])
      await expect.poll(() => follower.of(operationId).at(-1), { timeout: 5_000 }).toBe('success');
    here.end();
    there.end();
  });

  it('tells of changes by people, with what was done', async () => {
    const here = await follow(other);
    await settled();
    const made = await key({});
    await expect.poll(() => here.of(made.id)).toEqual(['created']);
    await one.call('DELETE', `/projects/default/api-keys/${made.id}`);
    await expect.poll(() => here.of(made.id)).toEqual(['created', 'deleted']);
    here.end();
  });

  it('tells a caller who is confined to a group of that group alone', async () => {
    const own = await follow(one, (await key({ groupRef: 'globex' })).key);
    const all = await follow(one);
    await settled();
    const ours = (await create(globex)).body.operationId;
    const others = (await create(acme)).body.operationId;
    await expect.poll(() => all.of(others).at(-1)).toBe('success');
    await expect.poll(() => own.of(ours).at(-1)).toBe('success');
    await key({});
    expect(new Set(own.changes().map(({ id }) => id))).toEqual(new Set([ours]));
    own.end();
    all.end();
  });

  it('goes on behind the last event, at another node, and asks to look again where it cannot', async () => {
    const here = await follow(one);
    const keeps = await follow(other);
    await settled();
    const first = (await create(acme)).body.operationId;
    await expect.poll(() => here.of(first).at(-1)).toBe('success');
    const lastId = here.seen.at(-1)?.id;
    here.end();
    const missed = (await create(acme)).body.operationId;
    await expect.poll(() => keeps.of(missed).at(-1)).toBe('success');
    const again = await follow(other, other.apiKey, lastId);
    await expect.poll(() => again.of(missed).at(-1)).toBe('success');
    expect([again.resyncs(), again.of(first)]).toEqual([0, []]);
    const lost = await follow(one, one.apiKey, 'from-long-ago');
    await expect.poll(() => lost.resyncs()).toBe(1);
    for (const follower of [keeps, again, lost]) follower.end();
  });

  it(
    'names at most fifty changes at once, and says of which types there are more',
    {
      timeout: 60_000,
    },
    async () => {
      const here = await follow(one);
      await settled();
      // On a busy machine so many do not change at once each time.
      const burst = async (): Promise<boolean> => {
        await Promise.all(Array.from({ length: 150 }, () => create(acme, { mode: 'asynchronous' })));
        await new Promise((resolve) => setTimeout(resolve, 500));
        return here.seen.some(({ data }) => data.more?.includes('operation'));
      };
      await expect.poll(burst, { timeout: 40_000 }).toBe(true);
      expect(Math.max(...here.seen.map(({ data }) => data.changes?.length ?? 0))).toBeLessThanOrEqual(150);
      here.end();
    },
  );

  it('ends with the key', { timeout: 30_000 }, async () => {
    const made = await key({});
    const here = await follow(one, made.key);
    expect([here.status, here.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await one.call('DELETE', `/projects/default/api-keys/${made.id}`);
    await expect.poll(() => here.isOver, { timeout: 20_000 }).toBe(true);
    expect((await follow(one, made.key)).status).toBe(401);
  });

  it('holds no more streams of one caller than it may, and refuses a caller who may not read', async () => {
    const made = await key({});
    const held = await Promise.all(Array.from({ length: 5 }, () => follow(one, made.key)));
    expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await follow(one, made.key)).status).toBe(429);
    held[0]?.end();
    await expect.poll(async () => (await follow(one, made.key)).status).toBe(200);
    for (const follower of held) follower.end();
    expect((await follow(one, (await key({ scopes: ['write'] })).key)).status).toBe(403);
  });

  it('drops what a reader does not take, and asks it to look again', { timeout: 60_000 }, async () => {
    const socket = await stalled(one);
    const here = await follow(one);
    await settled();
    // More than all buffers on the way hold, sent as the notifications of another node.
    const padding = 'x'.repeat(100);
    const batch = (at: number): string =>
      `${one.projectId} 0190a000-0000-7000-8000-${String(at).padStart(12, '0')} ${JSON.stringify([
        Array.from({ length: 30 }, (_, n) => ['flood', `${at}-${n}-${padding}`, 0, 0]),
        [],
      ])}`;
    for (let at = 0; at < 4_000; at += 200) {
      const texts = Array.from({ length: 200 }, (_, n) => batch(at + n));
      await test.database.raw('SELECT pg_notify($1, t) FROM unnest($2::text[]) t', ['svc_changes', texts]);
      await new Promise((resolve) => setTimeout(resolve, 260));
    }
    const asked = 'event: resync';
    let [end, isAsked] = ['', false];
    socket.on('data', (chunk: Buffer) => {
      end += chunk.toString('latin1');
      isAsked ||= end.includes(asked);
      end = end.slice(-asked.length);
    });
    socket.resume();
    await expect.poll(() => isAsked, { timeout: 20_000 }).toBe(true);
    expect(here.resyncs()).toBeLessThanOrEqual(1);
    socket.destroy();
    here.end();
  });

  it('ends when its node stops, which waits for nobody', { timeout: 30_000 }, async () => {
    const here = await follow(other);
    const ended = once(other.process(), 'exit');
    other.process().kill('SIGTERM');
    await expect.poll(() => here.isOver, { timeout: 5_000 }).toBe(true);
    expect(await ended).toEqual([0, null]);
  });
});

/** A stream whose reader takes its head and nothing else. */
function stalled({ base, apiKey }: Platform): Promise<Socket> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.write(`GET /v1/projects/default/stream HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`),
    );
    socket.once('error', reject);
    socket.once('data', (head: Buffer) => {
      socket.pause();
      if (head.toString().startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(head.toString()));
    });
  });
}
