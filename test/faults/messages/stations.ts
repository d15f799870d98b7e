import { AMQPClient } from '@cloudamqp/amqp-client';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../simulator/kit/random.ts';
import type { Database } from '../../../src/kit/db/database.ts';
import { startCutWire } from '../../cut-wire.ts';
import { findRabbitmq, startRabbitmq } from '../../rabbitmq.ts';
import { patiently } from '../suite/processes.ts';
import { addStore, addWarehouse, ask, type World } from './world.ts';

/** A destination that is no webhook, whose other side fails, with what it holds in the end. */
export interface Station {
  kind: string;
  id: string;
  recordsOnly?: true;
  /** Nothing fails there from now on. */
  calm(): void;
  /** Looks for the messages, given by id with their bodies. */
  look(bodies: ReadonlyMap<string, string>): Promise<Held>;
}

/** Ids of messages. */
export interface Held {
  found: string[];
  /** What is there is not what was sent, or differs from one time to the next. */
  wrong: string[];
  /** Nobody sent it there. */
  strange: string[];
}

interface Faults {
  faultRate: number;
  seed: number;
}

/** One of each kind that keeps what it is sent: a bucket, a table, a channel, and an exchange where RabbitMQ is installed. */
export async function addStations(
  world: World,
  faults: Faults,
  say: (line: string) => void,
): Promise<Station[]> {
  const stations = [
    await addBucket(world, faults),
    await addTable(world, faults),
    await addChannel(world, faults),
  ];
  const program = await findRabbitmq();
  if (program === undefined) say('RabbitMQ is not installed: no message goes to a broker');
  else stations.push(await addExchange(world, faults, program));
  return stations;
}

/** Compares texts by id with those that were sent. */
function compare(
  held: readonly { id: string; text: string }[],
  bodies: ReadonlyMap<string, string>,
  isOf: (text: string, body: string) => boolean = (text, body) => text === body,
): Held {
  const wrong = held.filter(({ id, text }) => bodies.has(id) && !isOf(text, bodies.get(id) ?? ''));
  return {
    found: [...new Set(held.map(({ id }) => id))],
    wrong: wrong.map(({ id }) => id),
    strange: held.flatMap(({ id }) => (bodies.has(id) ? [] : [id])),
  };
}

async function addBucket(world: World, faults: Faults): Promise<Station> {
  const { id, store } = await addStore(world, 'archive', faults);
  return {
    kind: 's3',
    id,
    calm: () => {
      store.fault = undefined;
    },
    look: async (bodies) => {
      const objects = await store.objects();
      return compare(
        objects.map(({ key, text }) => ({ id: key.replace(/^.*\//, ''), text })),
        bodies,
      );
    },
  };
}

const tableRestMs = 2_000;
const cutMs = 500;

/** Answers to commits are lost, and the wire breaks. */
async function addTable(world: World, { seed }: Faults): Promise<Station> {
  const { id, warehouse, wire } = await addWarehouse(world, 'table');
  const random = createRandom(seed, 'table');
  const calm = misbehaving(world, tableRestMs, random, async () => {
    if (random.next() < 0.7) return wire.loseCommit();
    wire.cut(random.pick(['refuse', 'hang'] as const));
    await sleep(cutMs);
    wire.heal();
  });
  return {
    kind: 'postgres',
    id,
    recordsOnly: true,
    calm,
    look: (bodies) => lookIntoTable(warehouse, bodies),
  };
}

interface Body {
  installationId: string;
  result: unknown[];
}

/** Each message is of an installation of its own, so that its rows are known. */
async function lookIntoTable(warehouse: Database, bodies: ReadonlyMap<string, string>): Promise<Held> {
  const rows = await patiently(() =>
    warehouse.raw(`SELECT installation_id AS installation, jsonb_agg(fields ORDER BY record_id)::text AS text
      FROM crm.people GROUP BY installation_id`),
  );
  const ids = new Map<string, string>();
  const sent = new Map<string, string>();
  for (const [id, body] of bodies) {
    ids.set((JSON.parse(body) as Body).installationId, id);
    sent.set(id, await normalized(warehouse, body));
  }
  const held = rows.map(({ installation, text }) => ({
    id: ids.get(String(installation)) ?? String(installation),
    text: String(text),
  }));
  return compare(held, sent);
}

/** As the database writes the fields of all records: it keeps numbers, and not how they were written. */
async function normalized(warehouse: Database, body: string): Promise<string> {
  const [row] = await patiently(() =>
    warehouse.raw(
      `SELECT jsonb_agg(one->'fields' ORDER BY at)::text AS text
      FROM jsonb_array_elements($1::jsonb->'result') WITH ORDINALITY AS all_of (one, at)`,
      [body],
    ),
  );
  return String(row?.['text']);
}

type ChannelFault = 'status' | 'lost' | 'slow' | 'taken and lost';

/** Speaks as Slack does. What it was told is noted before the answer is lost. */
async function addChannel(world: World, { faultRate, seed }: Faults): Promise<Station> {
  const random = createRandom(seed, 'channel');
  const held: { id: string; text: string }[] = [];
  let isCalm = false;
  const faultOf = (): ChannelFault | undefined =>
    isCalm || random.next() >= faultRate
      ? undefined
      : random.pick(['status', 'lost', 'slow', 'taken and lost'] as const);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { text: told } = (await json(request)) as { text: string };
    const fault = faultOf();
    if (fault === 'status') return void response.writeHead(500).end('rollup_error');
    if (fault === 'lost') return void request.socket.resetAndDestroy();
    held.push({ id: String(request.headers['webhook-id']), text: told });
    if (fault === 'taken and lost') return void request.socket.resetAndDestroy();
    if (fault === 'slow') await sleep(300 + random.int(1_200));
    response.end('ok');
  };
  const server = createServer((request, response) => {
    // A node that dies takes its requests with it.
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world.closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/X0`;
  const id = await add(world, { name: 'channel', type: 'slack', metadata: { url } });
  return {
    kind: 'slack',
    id,
    calm: () => {
      isCalm = true;
    },
    look: async (bodies) => compare(held, bodies, shows),
  };
}

const shownAtLeast = 7_000;

/** Slack's own reading of a text: the message stands in the block below the sentence. */
function shows(text: string, body: string): boolean {
  const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return plain.includes(`\`\`\`${body.slice(0, shownAtLeast)}`);
}

const exchange = 'crm-records';
const exchangeRestMs = 3_000;

/** A queue of the exchange is read while the nodes publish; their wire to it breaks. */
async function addExchange(world: World, { seed }: Faults, program: string): Promise<Station> {
  const user = { name: 'svc', password: 'hunter2' };
  const permissions = { configure: '.*', write: '.*', read: '.*' };
  const broker = await startRabbitmq(program, { vhost: 'crm', users: [{ ...user, permissions }] });
  world.closing.push(() => broker.stop());
  const wire = await startCutWire(broker.port);
  world.closing.push(async () => wire.close());
  const client = new AMQPClient(`amqp://${user.name}:${user.password}@127.0.0.1:${broker.port}/crm`);
  await client.connect();
  world.closing.push(() => client.close());
  const channel = await client.channel();
  await channel.exchangeDeclare(exchange, 'topic', { durable: true });
  await channel.queueDeclare('all', { durable: true });
  await channel.queueBind('all', exchange, '#');
  const held: { id: string; text: string }[] = [];
  await channel.basicConsume('all', { noAck: true }, (message) => {
    held.push({ id: message.properties.messageId ?? '', text: message.bodyString() ?? '' });
  });
  const random = createRandom(seed, 'exchange');
  const calm = misbehaving(world, exchangeRestMs, random, async () => {
    wire.is(random.pick(['cut', 'hang'] as const));
    await sleep(cutMs);
    wire.is('open');
  });
  const id = await add(world, {
    name: 'exchange',
    type: 'amqp',
    metadata: { url: `amqp://127.0.0.1:${wire.port}/crm`, exchange },
    secrets: { username: user.name, password: user.password },
  });
  const look = async (bodies: ReadonlyMap<string, string>): Promise<Held> => {
    // What the broker confirmed may still be on its way here.
    for (let seen = -1; seen < held.length; await sleep(500)) seen = held.length;
    return compare(held, bodies);
  };
  return { kind: 'amqp', id, calm, look };
}

async function add({ platform }: World, destination: object): Promise<string> {
  const path = `/projects/${platform.projectId}/destinations`;
  return (await ask<{ id: string }>(platform, 'POST', path, destination)).id;
}

/** Acts again and again, with rests between, until the function that it returns is called. */
function misbehaving(
  { closing }: World,
  restMs: number,
  random: Random,
  act: () => Promise<void> | void,
): () => void {
  let isCalm = false;
  const calm = (): void => {
    isCalm = true;
  };
  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(restMs / 2 + random.int(restMs), undefined, { ref: false });
      if (isCalm) return;
      await act();
    }
  };
  void run();
  closing.push(async () => calm());
  return calm;
}
