import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/free-port.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import type { Delivered, OutgoingMessage } from '../kind.ts';
import { testDestinationKind, testMessage, type Behaviour, type KindWorld } from '../kind.testsuite.ts';
import { createWebhook } from './index.ts';
import type { WebhookMetadata } from './schema.ts';

interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}
type Answer = (response: ServerResponse) => void;

const timeoutMs = 400;

/** A receiver on a port of its own. */
async function startReceiver() {
  const received: Received[] = [];
  const state = { answer: ((response) => response.writeHead(204).end()) as Answer };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
      state.answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks?of=svc`,
    received,
    state,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });
const ground = { egress } as unknown as Ground;
const key = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const kind = createWebhook({ timeoutMs });

const answers: Record<Behaviour, Answer> = {
  well: (response) => response.writeHead(204).end(),
  refuses: (response) => response.writeHead(500).end('no'),
  hangs: () => undefined,
};

testDestinationKind({
  type: 'webhook',
  patienceMs: 3_000,
  async open(): Promise<KindWorld> {
    const receiver = await startReceiver();
    const kept = new Map<string, string[]>();
    let how: Behaviour = 'well';
    receiver.state.answer = (response) => {
      const { headers, body } = receiver.received.at(-1)!;
      const { result } = JSON.parse(body) as { result: { raw: { id: string; name: string } }[] };
      if (how === 'well')
        kept.set(
          String(headers['webhook-id']),
          result.map(({ raw }) => `${raw.id} ${raw.name}`),
        );
      answers[how](response);
    };
    return {
      kind,
      metadata: { url: receiver.url },
      secrets: { webhookSigningKey: key },
      nowhere: { url: `http://127.0.0.1:${await freePort()}/` },
      behave: async (next) => {
        how = next;
      },
      arrived: async () => [...kept.values()].flat().toSorted(),
      context: { ground },
      close: () => receiver.close(),
    };
  },
  shown: ({ id, name }) => `${id} ${name}`,
  nonsense: [
    ['no URL', {}, 'metadata.url'],
    ['what is no URL', { url: 'hooks' }, 'metadata.url'],
    ['another scheme', { url: 'ftp://example.com/' }, 'metadata.url'],
    ['a URL in the clear, in production', { url: 'http://example.com/' }, 'metadata.url'],
    ['user information', { url: 'https://ann:pw@example.com/' }, 'metadata.url'],
    ['a fragment', { url: 'https://example.com/#a' }, 'metadata.url'],
    ['a property of another kind', { url: 'https://example.com/', table: 't' }, 'metadata.table'],
    ['a header of HTTP', { url: 'https://example.com/', headers: { Host: 'b' } }, 'metadata.headers.Host'],
    [
      'a length',
      { url: 'https://example.com/', headers: { 'content-length': '1' } },
      'metadata.headers.content-length',
    ],
    ['a line break', { url: 'https://example.com/', headers: { a: 'b\r\nc: d' } }, 'metadata.headers.a'],
    ['a name with a space', { url: 'https://example.com/', headers: { 'a b': 'c' } }, 'metadata.headers.a b'],
    ['a name twice', { url: 'https://example.com/', headers: { a: '1', A: '2' } }, 'metadata.headers.a'],
    ['a header that is no text', { url: 'https://example.com/', headers: { a: 1 } }, 'metadata.headers.a'],
  ],
});

describe('deliveries/webhook', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.state.answer = answers.well;
  });
  afterAll(async () => {
    await receiver.close();
    await egress.close();
  });

  const send = (
    message: OutgoingMessage,
    metadata: Partial<WebhookMetadata> = {},
    formerSecrets?: { webhookSigningKey: string }[],
  ): Promise<Delivered> =>
    kind.deliver(
      message,
      {
        id: 'd',
        projectId: message.projectId,
        name: 'mine',
        metadata: { url: receiver.url, ...metadata },
        secrets: { webhookSigningKey: key },
        formerSecrets,
      },
      { ground, signal: new AbortController().signal, mayStillSend: () => true },
    );
  const answering = async (answer: Answer): Promise<Delivered> => {
    receiver.state.answer = answer;
    return send(testMessage());
  };
  const plain = (headers: IncomingHttpHeaders): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

  it('posts the body byte for byte, signed so that the packages of both names verify it', async () => {
    const message = testMessage(['Zoë'], {
      body: async () => Buffer.from('{"action":"read", "result":[{"raw":{"n":1.50,"e":"\\u00eb"}}]}'),
    });
    await send(message, {
      headers: { 'X-Tenant': 'a', Authorization: 'Bearer b', 'Content-Type': 'text/html' },
    });
    const [{ method, path, headers, body }] = receiver.received as [Received];
    expect([method, path]).toEqual(['POST', '/hooks?of=svc']);
    expect(body).toBe((await message.body()).toString());
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-tenant': 'a',
      authorization: 'Bearer b',
      'webhook-id': message.id,
      'svix-id': message.id,
      'content-length': String(Buffer.byteLength(body)),
    });
    expect(headers).not.toHaveProperty('x-svc-replay');
    expect(new StandardWebhook(key).verify(body, plain(headers))).toEqual(JSON.parse(body));
    expect(new SvixWebhook(key).verify(body, plain(headers))).toEqual(JSON.parse(body));
    expect(() => new StandardWebhook(key).verify(`${body} `, plain(headers))).toThrow(/signature/i);
    expect(() => new StandardWebhook(former).verify(body, plain(headers))).toThrow(/signature/i);
  });

  it('signs with both keys during a rotation, and names a replay', async () => {
    await send(testMessage(undefined, { replay: true }), {}, [{ webhookSigningKey: former }]);
    const [{ headers, body }] = receiver.received as [Received];
    expect(headers['x-svc-replay']).toBe('true');
    for (const each of [key, former]) {
      new StandardWebhook(each).verify(body, plain(headers));
      new SvixWebhook(each).verify(body, plain(headers));
    }
  });

  it('the timestamp is of the attempt, the id of the message', async () => {
    const message = testMessage();
    await send(message);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await send({ ...message, attempt: 2 });
    const [first, second] = receiver.received.map(({ headers }) => headers);
    expect(second!['webhook-id']).toBe(first!['webhook-id']);
    expect(second!['webhook-timestamp']).not.toBe(first!['webhook-timestamp']);
  });

  it.each([200, 201, 299])('%s is success, with what was answered', async (status) => {
    expect(await answering((response) => response.writeHead(status).end('thanks'))).toEqual({
      kind: 'delivered',
      status,
      answer: 'thanks',
    });
  });

  it.each([301, 302, 307, 308])('%s fails and is not followed', async (status) => {
    const failed = await answering((response) =>
      response.writeHead(status, { location: receiver.url }).end(),
    );
    expect(failed).toMatchObject({
      kind: 'failed',
      status,
      error: expect.stringContaining('redirect') as string,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('keeps no beginning of a secret where the answer is cut in it', async () => {
    const authorization = `Bearer ${'abcdefghij'.repeat(20)}`;
    const echo = { url: receiver.url, headers: { authorization } };
    for (const kept of [150, 20]) {
      receiver.state.answer = (response) =>
        response.writeHead(500).end(`${'x'.repeat(4_096 - kept)}${authorization}`);
      const { answer } = (await send(testMessage(), echo)) as { answer: string };
      expect(answer).toBe(`${'x'.repeat(4_096 - kept)}***`);
    }
  });

  it('keeps no secret of its own that an answer repeats', async () => {
    const { url } = receiver;
    const echo = {
      url: `${new URL('/hooks', url).href}?token=query%2Bsecret`,
      headers: { 'x-mine': 'header-secret', authorization: 'Bearer abc.def' },
    };
    for (const status of [200, 500]) {
      receiver.state.answer = (response) => {
        const { path, headers } = receiver.received.at(-1)!;
        const said = [
          path,
          'query+secret',
          headers['x-mine'],
          headers.authorization,
          `token abc.def, key ${key}`,
        ];
        response.writeHead(status).end(said.join(' | '));
      };
      const { answer } = (await send(testMessage(), echo)) as { answer: string };
      expect(answer.split(' | ')).toEqual(['/hooks?token=***', '***', '***', '***', 'token ***, key ***']);
    }
  });

  it('410 asks to disable the destination', async () => {
    expect(await answering((response) => response.writeHead(410).end())).toMatchObject({
      kind: 'failed',
      status: 410,
      disable: expect.stringContaining('410') as string,
    });
  });

  it('hears Retry-After', async () => {
    const busy = (value: string) =>
      answering((response) => response.writeHead(503, { 'retry-after': value }).end());
    expect(await busy('7')).toMatchObject({ kind: 'failed', retryAfterMs: 7_000 });
    expect(await busy('soon')).not.toHaveProperty('retryAfterMs');
  });

  it('of an answer without end it reads the beginning, and the status counts', async () => {
    let written = 0;
    const startedAt = performance.now();
    const delivered = await answering((response) => {
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && written < 200_000_000) {
          written += 65_536;
          if (!response.write('x'.repeat(65_536))) return void response.once('drain', pour);
        }
      };
      pour();
    });
    expect(delivered).toEqual({ kind: 'delivered', status: 200, answer: 'x'.repeat(4_096) });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(written).toBeLessThan(20_000_000);
  });

  it('a body that stops in the middle is not waited for; one that breaks off has its status', async () => {
    const slow = createWebhook({ timeoutMs: 5_000 });
    receiver.state.answer = (response) => response.writeHead(200).write('so far');
    const message = testMessage();
    const startedAt = performance.now();
    const destination = {
      id: 'd',
      projectId: message.projectId,
      name: 'mine',
      metadata: { url: receiver.url },
    };
    const context = { ground, signal: new AbortController().signal, mayStillSend: () => true };
    expect(
      await slow.deliver(message, { ...destination, secrets: { webhookSigningKey: key } }, context),
    ).toEqual({ kind: 'delivered', status: 200, answer: 'so far' });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    const broken = await answering((response) => {
      response.writeHead(500, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    expect(broken).toMatchObject({ kind: 'failed', status: 500 });
  });

  it('what is no HTTP is a failure in words', async () => {
    const failed = await answering((response) => response.socket!.end('garbage\r\n\r\n'));
    expect(failed).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('could not be posted') as string,
    });
  });

  it('an address that is not public is refused by the door, with what the operator can do', async () => {
    const failed = await send(testMessage(), { url: 'https://169.254.169.254/latest' });
    expect(failed).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/egress-refused.*SVC_EGRESS_ALLOW/) as string,
    });
  });

  it('makes a key of its own each time', () => {
    const [one, two] = [kind.generate?.(), kind.generate?.()];
    expect(one).not.toEqual(two);
    expect(Buffer.from(one!.webhookSigningKey!.slice(6), 'base64')).toHaveLength(32);
  });
});
