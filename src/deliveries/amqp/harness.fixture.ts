import { AMQPClient, type AMQPChannel } from '@cloudamqp/amqp-client';
import { expect, vi } from 'vitest';
import { startCutWire, type CutWire } from '../../../test/cut-wire.ts';
import { startRabbitmq, type Broker } from '../../../test/rabbitmq.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import { newId } from '../../kit/ids.ts';
import type { Delivered } from '../kind.ts';
import { testMessage } from '../kind.testsuite.ts';
import type { createAmqp } from './index.ts';
import type { AmqpMetadata } from './schema.ts';

export const exchange = 'crm-records';
export const vhost = 'crm/eu';
export const secrets = { username: 'svc', password: 'hunter2 & /more' };
export const reader = { username: 'reader', password: 'hunter2-reads' };

export const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });
export const ground = { egress } as unknown as Ground;

/** A message as a queue has it. */
export interface Got {
  id: string;
  text: string;
  routingKey: string;
  properties: Record<string, unknown>;
}

/** A broker, a wire to it that can be cut, and a queue that takes all of the exchange. */
export interface Mailroom {
  broker: Broker;
  wire: CutWire;
  metadata: AmqpMetadata;
  channel: AMQPChannel;
  /** What came into the queue so far, in order. */
  arrived(): Promise<Got[]>;
  forget(): void;
  close(): Promise<void>;
}

export async function openMailroom(program: string): Promise<Mailroom> {
  const all = { configure: '.*', write: '.*', read: '.*' };
  const broker = await startRabbitmq(program, {
    vhost,
    users: [
      { name: secrets.username, password: secrets.password, permissions: all },
      { name: reader.username, password: reader.password, permissions: { ...all, write: '^$' } },
    ],
  });
  const wire = await startCutWire(broker.port);
  const user = `${encodeURIComponent(secrets.username)}:${encodeURIComponent(secrets.password)}`;
  const path = encodeURIComponent(vhost);
  const client = new AMQPClient(`amqp://${user}@127.0.0.1:${broker.port}/${path}`);
  await client.connect();
  const channel = await client.channel();
  const got: Got[] = [];
  await declare(channel, 'all', '#');
  await channel.basicConsume('all', { noAck: true }, (message) => {
    const { properties, routingKey } = message;
    const text = message.bodyString() ?? '';
    got.push({ id: properties.messageId ?? '', text, routingKey, properties: { ...properties } });
  });
  return {
    broker,
    wire,
    metadata: { url: `amqp://127.0.0.1:${wire.port}/${path}`, exchange },
    channel,
    async arrived() {
      // What is behind all others in the queue came when they did.
      const marker = newId();
      await channel.basicPublish('', 'all', '', { messageId: marker });
      await vi.waitFor(() => expect(got.at(-1)?.id).toBe(marker), { timeout: 5_000 });
      got.pop();
      return [...got];
    },
    forget: () => void got.splice(0),
    async close() {
      wire.close();
      await client.close().catch(() => undefined);
      await broker.stop();
    },
  };
}

/** The exchange, and a queue that takes what has such a routing key. */
export async function declare(channel: AMQPChannel, queue: string, key: string): Promise<void> {
  await channel.exchangeDeclare(exchange, 'topic', { durable: true });
  await channel.queueDeclare(queue, { durable: true });
  await channel.queueBind(queue, exchange, key);
}

/** Sends one message to the metadata. */
export function sender(kind: ReturnType<typeof createAmqp>, base: () => AmqpMetadata) {
  return (
    over: Partial<AmqpMetadata> = {},
    {
      message = testMessage(),
      to = 'd1',
      own = secrets,
      by = ground,
      signal = new AbortController().signal,
    } = {},
  ): Promise<Delivered> =>
    kind.deliver(
      message,
      {
        id: to,
        projectId: message.projectId,
        name: 'mine',
        metadata: { ...base(), ...over },
        secrets: own,
      },
      { ground: by, signal, mayStillSend: () => true },
    );
}
