import { Agent } from 'undici';
import type { MessageEntry } from '../../src/deliveries/index.ts';
import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { newId } from '../../src/kit/ids.ts';
import { contactOf, entryOf } from '../contacts.ts';
import {
  keepEach,
  makeDestinations,
  setHeld,
  type DestinationLane,
  type MessageParts,
} from '../deliveries.ts';
import { scaled, type Figure } from '../figure.ts';
import { untilDone } from '../queue.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { startStage, type Stage } from '../stage.ts';

const endpoints = 1_000;
const deliveries = Math.max(1, scaled(30)) * endpoints;
const callers = 64;

/** A record that makes a message of about two kilobytes. */
const contact = JSON.stringify(entryOf(contactOf(1)));

function entry(): MessageEntry {
  return { json: contact, key: { id: newId(), version: new Date().toISOString(), deleted: false } };
}

/** The product with so many destinations, each an origin of its own. */
export interface Endpoints {
  database: Database;
  receiver: Receiver;
  call: Stage['call'];
  projectId: string;
  lanes: DestinationLane[];
  /** Queues a message for each of these. */
  queue: (lanes: Iterable<DestinationLane>) => Promise<void>;
  close: () => Promise<void>;
}

export async function startEndpoints(count = endpoints): Promise<Endpoints> {
  const receiver = await startReceiver(count);
  const stage = await startStage('http://127.0.0.1:9', { groups: [] });
  const database = openDatabase({ url: stage.databaseUrl, poolSize: 4, applicationName: 'svc bench' });
  const lanes = await makeDestinations(
    stage,
    receiver.urls.map((url) => ({ type: 'webhook', metadata: { url } })),
  );
  return {
    database,
    receiver,
    call: stage.call,
    projectId: stage.projectId,
    lanes,
    queue: (to) => keepEach(database, messagesFor(to)),
    async close() {
      await database.close();
      await stage.close();
      await receiver.close();
    },
  };
}

function* messagesFor(lanes: Iterable<DestinationLane>): Generator<MessageParts> {
  for (const to of lanes) yield { to, entries: [entry()] };
}

/** A backlog is queued while its lanes are held, and timed from the moment in which they are let go. */
export const deliver: Figure = {
  id: 'deliver',
  about: `${deliveries} queued webhooks of 2 KB to ${endpoints} endpoints`,
  unit: 'deliveries/s',
  yardstick: `bare undici POSTs of the same to the same, ${callers} callers`,
  goal: { of: 'ratio', atLeast: 0.4 },
  prepare: async () => {
    const { database, receiver, lanes, queue, close } = await startEndpoints();
    return {
      run: async () => {
        await setHeld(database, lanes, true);
        for (let n = 0; n < deliveries / endpoints; n += 1) await queue(lanes);
        await receiver.reset();
        const startedAt = Date.now();
        await setHeld(database, lanes, false);
        const { lastAt } = await receiver.until(deliveries);
        await untilDone(database, lanes, { everyMs: 20, withinMs: 30_000 });
        await database.raw('VACUUM work, lane, wake');
        const value = deliveries / ((lastAt - startedAt) / 1000);
        return { value, yardstick: await barePosts(receiver) };
      },
      close,
    };
  },
};

/** As many a second as go through, to one endpoint after the other. */
async function barePosts({ urls, reset, until }: Receiver): Promise<number> {
  const agent = new Agent();
  const body = Buffer.from(`{"result":[${contact}]}`);
  await reset();
  const startedAt = Date.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < deliveries) {
        const origin = urls[next % urls.length] ?? '';
        next += 1;
        const headers = { 'content-type': 'application/json', 'webhook-id': newId() };
        const answer = await agent.request({ origin, path: '/', method: 'POST', headers, body });
        await answer.body.dump();
      }
    }),
  );
  const { lastAt } = await until(deliveries);
  await agent.close();
  return deliveries / ((lastAt - startedAt) / 1000);
}
