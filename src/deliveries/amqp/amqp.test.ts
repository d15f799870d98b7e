import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import { freePort } from '../../../test/free-port.ts';
import { findRabbitmq } from '../../../test/rabbitmq.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import { testDestinationKind, testMessage, type KindWorld } from '../kind.testsuite.ts';
import {
  declare,
  exchange,
  ground,
  openMailroom,
  reader,
  secrets,
  sender,
  vhost,
  type Mailroom,
} from './harness.fixture.ts';
import { createAmqp } from './index.ts';
import type { AmqpMetadata } from './schema.ts';

const program = await findRabbitmq();
const skipped = program ? '' : ' (skipped: rabbitmq-server is not installed)';
const timeoutMs = 1_500;
const good = { url: 'amqps://rabbit.example.com/crm', exchange };
let room: Mailroom;

describe.skipIf(!program)(`deliveries/amqp${skipped}`, () => {
  const kind = createAmqp({ timeoutMs });
  beforeAll(async () => {
    room = await openMailroom(program ?? '');
  }, 150_000);
  afterAll(async () => {
    await kind.close?.();
    await room?.close();
  });

  testDestinationKind({
    type: 'amqp',
    patienceMs: 4_000,
    async open(): Promise<KindWorld> {
      return {
        kind,
        metadata: room.metadata,
        secrets,
        nowhere: { ...room.metadata, url: `amqp://127.0.0.1:${await freePort()}/` },
        async behave(how) {
          room.wire.is(how === 'hangs' ? 'hang' : 'open');
          if (how === 'refuses') await room.channel.exchangeDelete(exchange);
          else await declare(room.channel, 'all', '#');
        },
        async arrived() {
          const each = new Map((await room.arrived()).map((one) => [one.id, one.text]));
          return [...each.values()]
            .flatMap(
              (text) => (JSON.parse(text) as { result: { raw: { id: string; name: string } }[] }).result,
            )
            .map(({ raw }) => `${raw.id} ${raw.name}`)
            .toSorted();
        },
        context: { ground },
        close: async () => undefined,
      };
    },
    shown: ({ id, name }) => `${id} ${name}`,
    nonsense: [
      ['no URL', { exchange }, 'metadata.url'],
      ['no exchange', { url: good.url }, 'metadata.exchange'],
      ['what is no URL', { ...good, url: 'rabbit.example.com' }, 'metadata.url'],
      ['another scheme', { ...good, url: 'https://rabbit.example.com' }, 'metadata.url'],
      ['a broker in the clear', { ...good, url: 'amqp://rabbit.example.com' }, 'metadata.url'],
      ['user information', { ...good, url: 'amqps://a:b@rabbit.example.com' }, 'metadata.url'],
      ['parameters', { ...good, url: 'amqps://rabbit.example.com/?heartbeat=1' }, 'metadata.url'],
      ['two virtual hosts', { ...good, url: 'amqps://rabbit.example.com/a/b' }, 'metadata.url'],
      ['the port 0', { ...good, url: 'amqps://rabbit.example.com:0/' }, 'metadata.url'],
      ['an exchange that AMQP cannot hold', { ...good, exchange: 'ä'.repeat(200) }, 'metadata.exchange'],
      ['a NUL character', { ...good, exchange: 'a\0' }, 'metadata.exchange'],
      [
        'a name that is not known',
        { ...good, routingKeyTemplate: '{{record}}' },
        'metadata.routingKeyTemplate',
      ],
      ['a property of another kind', { ...good, headers: {} }, 'metadata.headers'],
    ],
  });

  describe('a broker', () => {
    const send = sender(kind, () => room.metadata);
    const failed = (error: RegExp) => ({ kind: 'failed', error: expect.stringMatching(error) as string });
    beforeEach(async () => {
      room.wire.is('open');
      await declare(room.channel, 'all', '#');
      room.forget();
    });

    it('gets the body byte for byte, persistent, with its id', async () => {
      const body = '{"action":"read", "result":[{"raw":{"n":1.50,"e":"\\u00eb"}}]}';
      const message = testMessage(['Zoë'], {
        body: async () => Buffer.from(body),
        createdAt: new Date('2026-01-15T09:30:00Z'),
        groupRef: 'Zoë',
        replay: true,
      });
      expect(await send({}, { message })).toEqual({ kind: 'delivered' });
      expect(await room.arrived()).toEqual([
        {
          id: message.id,
          text: body,
          routingKey: 'read.people',
          properties: {
            messageId: message.id,
            type: 'read',
            timestamp: message.createdAt,
            contentType: 'application/json',
            appId: 'svc',
            deliveryMode: 2,
            headers: {
              projectId: message.projectId,
              destinationId: 'd1',
              installationId: message.installationId,
              groupRef: 'Zoë',
              objectName: 'people',
              'x-svc-replay': 'true',
            },
          },
        },
      ]);
    });

    it.each([
      ['crm.{{groupRef}}.{{object}}', 'a.b*#', 'crm.a%2Eb%2A%23.people'],
      ['{{groupRef}}', '', '-'],
      ['{{type}}', 'acme', 'read'],
      ['{{type}}.{{groupRef}}', '\uD800', 'read.%EF%BF%BD'],
    ])('fills %s', async (routingKeyTemplate, groupRef, key) => {
      await send({ routingKeyTemplate }, { message: testMessage(['Ann'], { groupRef }) });
      expect((await room.arrived()).map(({ routingKey }) => routingKey)).toEqual([key]);
    });

    it('keeps the words of the type of a notification', async () => {
      const message = testMessage([], { notificationType: 'connection.created', object: '' });
      await send({}, { message });
      expect((await room.arrived()).map(({ routingKey }) => routingKey)).toEqual(['connection.created.-']);
    });

    it('confirms large messages that are sent at once over one connection', async () => {
      const before = room.wire.count();
      const sent = Array.from({ length: 30 }, () =>
        testMessage(['Ann'], { body: async () => Buffer.alloc(300_000, '"') }),
      );
      const results = await Promise.all(sent.map((message) => send({}, { message })));
      expect(new Set(results.map((result) => result.kind))).toEqual(new Set(['delivered']));
      expect(new Set((await room.arrived()).map(({ id }) => id))).toEqual(new Set(sent.map(({ id }) => id)));
      expect(room.wire.count() - before).toBeLessThanOrEqual(1);
    });

    it('is dialled anew when the connection was lost at rest', async () => {
      await send();
      room.wire.is('cut');
      expect(await send()).toEqual({ kind: 'delivered' });
      expect(await room.arrived()).toHaveLength(2);
    });

    it.each([
      [
        'an exchange that is not there',
        { exchange: 'gone' },
        secrets,
        /no exchange "gone" in the virtual host "crm\/eu".*metadata\.exchange/,
      ],
      [
        'no queue for the routing key',
        { exchange: 'amq.topic' },
        secrets,
        /No queue takes the routing key "read\.people".*bind one.*metadata\.routingKeyTemplate/,
      ],
      [
        'another password',
        {},
        { ...secrets, password: 'other' },
        /refused the user "svc".*secrets\.password/,
      ],
      ['no right to write', {}, reader, /"reader" may not write to the exchange "crm-records".*grant it/],
      [
        'a queue that is not there',
        { exchange: '', routingKeyTemplate: 'nobody' },
        secrets,
        /No queue takes the routing key "nobody"/,
      ],
      [
        'a routing key that is too long',
        { routingKeyTemplate: '{{object}}' },
        secrets,
        /more than 255 bytes.*routingKeyTemplate/,
      ],
    ])('tells of %s, and goes on after', async (_what, over: Partial<AmqpMetadata>, own, error) => {
      const object = over.routingKeyTemplate === '{{object}}' ? 'o'.repeat(300) : 'people';
      const result = await send(over, { own, message: testMessage(['Ann'], { object }) });
      expect(result).toEqual(failed(error));
      expect(JSON.stringify(result)).not.toContain(own.password);
      expect(await send()).toEqual({ kind: 'delivered' });
    });

    it('tells of a virtual host that is not there', async () => {
      const url = `amqp://127.0.0.1:${room.wire.port}/none`;
      expect(await send({ url })).toEqual(failed(/virtual host "none" is not there.*metadata\.url/));
    });

    it('tells of a queue that takes no more', async () => {
      await room.channel.queueDeclare(
        'full',
        { durable: true },
        {
          'x-max-length': 1,
          'x-overflow': 'reject-publish',
        },
      );
      const over = { exchange: '', routingKeyTemplate: 'full' };
      expect(await send(over)).toEqual({ kind: 'delivered' });
      expect(await send(over)).toEqual(failed(/did not take the message.*limits of the queues/));
      await room.channel.queueDelete('full');
    });

    it('a message of one exchange does not suffer from another that is not there', async () => {
      const results = await Promise.all([
        ...Array.from({ length: 10 }, () => send()),
        ...Array.from({ length: 5 }, () => send({ exchange: 'gone' })),
      ]);
      expect(results.filter((result) => result.kind === 'delivered')).toHaveLength(10);
    });

    it('tells apart what no queue takes from the same message of another destination', async () => {
      await room.channel.queueDeclare('quick', { durable: false, autoDelete: false });
      const at = (key: string) => ({ exchange: '', routingKeyTemplate: key });
      const both = Array.from({ length: 500 }, () => testMessage(['Ann'])).flatMap((message) => [
        send(at('quick'), { message, to: 'd1' }),
        send(at('nobody'), { message, to: 'd2' }),
      ]);
      const kinds = (await Promise.all(both)).map((result) => result.kind);
      expect(kinds).toEqual(both.map((_, n) => (n % 2 === 0 ? 'delivered' : 'failed')));
      await room.channel.queueDelete('quick');
    });

    it('tells of a certificate that nobody vouches for, and trusts the operator', async () => {
      const at = (host: string) => ({
        url: `amqps://${host}:${room.broker.tlsPort}/${encodeURIComponent(vhost)}`,
      });
      const open = (extraCa?: string) =>
        createEgress({
          allow: parseAddressRules(['127.0.0.0/8', '::1/128', 'localhost']),
          connectTimeoutMs: 1_000,
          ...(extraCa ? { extraCa } : {}),
        });
      const [plain, trusting] = [open(), open(certificate.cert)];
      const by = (dialler: typeof plain) => ({ egress: dialler }) as unknown as Ground;
      expect(await send(at('localhost'), { by: by(plain) })).toEqual(
        failed(/certificate of localhost:\d+ is not trusted/),
      );
      expect(await send(at('127.0.0.2'), { by: by(trusting) })).toEqual(failed(/is not trusted/));
      expect(await send(at('localhost'), { by: by(trusting) })).toEqual({ kind: 'delivered' });
      await Promise.all([plain.close(), trusting.close()]);
    });

    it('tells of a broker that speaks no TLS', async () => {
      const url = `amqps://127.0.0.1:${room.wire.port}/`;
      expect(await send({ url })).toEqual(failed(/speaks no TLS.*amqp:\/\//));
    });

    it('is not called at an address inside', async () => {
      for (const host of ['169.254.169.254', '10.0.0.1:5672'])
        expect(await send({ url: `amqps://${host}/` })).toEqual(
          failed(/egress-refused.*is not a public address.*SVC_EGRESS_ALLOW/),
        );
    });
  });

  describe('what is no broker', () => {
    const frame = (type: number, payload: Buffer, size = payload.length): Buffer => {
      const head = Buffer.from([type, 0, 0, 0, 0, 0, 0]);
      head.writeUInt32BE(size, 3);
      return Buffer.concat([head, payload, Buffer.from([0xce])]);
    };
    const method = (of: number, id: number, rest: Buffer = Buffer.alloc(0)): Buffer =>
      frame(1, Buffer.concat([Buffer.from([0, of, 0, id]), rest]));
    const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
    it.each([
      ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /no broker of AMQP 0-9-1/],
      ['another version', Buffer.from('AMQP\x03\x01\x00\x00'), /another version/],
      ['a frame without end', frame(1, Buffer.alloc(8), 2 ** 31), /no broker of AMQP 0-9-1/],
      ['a frame whose end is wrong', Buffer.from([1, 0, 0, 0, 0, 0, 4, 0, 10, 0, 10, 0]), /./],
      ['a method that is cut short', method(10, 50, Buffer.from([1])), /./],
      [
        'a content that nobody asked for',
        frame(2, Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 255), Buffer.alloc(2)])),
        /more than it was asked for/,
      ],
      [
        'a close without a number',
        method(10, 50, Buffer.concat([Buffer.from([1, 146]), text(`No hunter2 & /more`), Buffer.alloc(4)])),
        /ended the connection: No \*\*\* \(402\)/,
      ],
      [
        'frames without end',
        Buffer.concat(Array.from({ length: 30_000 }, () => frame(8, Buffer.alloc(0)))),
        /more than it was asked for/,
      ],
    ])('is a failure: %s', async (_what, answer, error) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.write(answer));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const impatient = createAmqp({ timeoutMs: 1_500 });
      const url = `amqp://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const result = await sender(impatient, () => ({ url, exchange }))();
      expect(result).toEqual(
        expect.objectContaining({ kind: 'failed', error: expect.stringMatching(error) as string }),
      );
      expect(JSON.stringify(result)).not.toMatch(/hunter2|within/);
      await impatient.close?.();
      server.close();
    });

    it('a broker that ends every connection is a failure, not a loop', async () => {
      let count = 0;
      const server = createServer((socket) => {
        count += 1;
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `amqp://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      expect(await sender(kind, () => ({ url, exchange }))()).toMatchObject({
        kind: 'failed',
        error: expect.stringMatching(/was lost/) as string,
      });
      expect(count).toBe(1);
      server.close();
    });
  });
});
