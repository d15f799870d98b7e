import { createHash } from 'node:crypto';
import type { Random } from '../../../simulator/kit/random.ts';
import { cutMessages, keepMessages, type NewMessage } from '../../../src/deliveries/index.ts';
import { decode } from '../../../src/deliveries/encoding.ts';
import { insertEvent } from '../../../src/events/store.ts';
import type { Database } from '../../../src/kit/db/database.ts';
import { sqlState } from '../../../src/kit/db/faults.ts';
import { newId } from '../../../src/kit/ids.ts';
import { patiently } from '../suite/processes.ts';

/** A message that was kept, as the suite itself knows it. */
export interface Kept {
  destination: string;
  hash: string;
  body: string;
}

function keptOf(destination: string, body: string): Kept {
  return { destination, hash: createHash('sha256').update(body).digest('base64'), body };
}

export const eventType = 'connection.error';

interface Some {
  projectId: string;
  random: Random;
  count: number;
}

/** Keeps `count` messages of records, each for the destination that `aim` names. */
export async function keepRecords(
  database: Database,
  { projectId, random, count }: Some,
  aim: () => string,
  kept: Map<string, Kept>,
): Promise<void> {
  const messages = await Promise.all(
    Array.from({ length: count }, () => messageTo(projectId, random, aim())),
  );
  await patiently(() => keepOnce(() => keepMessages(database, messages)));
  for (const { id, body, encoding, destinationId } of messages) {
    const text = (await decode(body, encoding)).toString('utf8');
    kept.set(id, keptOf(destinationId, text));
  }
}

/** Records events, each in a commit of its own, and one that is rolled back: nobody may hear of that one. */
export async function happen(
  database: Database,
  { projectId, random, count }: Some,
  told: readonly string[],
  kept: Map<string, Kept>,
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const id = newId();
    const data = `{"groupRef":"acme","provider":"hubspot","errors":["gone"],"n":${random.pick(values)}, "text":"${random.text(200 + random.int(500))}"}`;
    const happening = { type: eventType, groupRef: 'acme', data } as const;
    await patiently(() => keepOnce(() => insertEvent(database, projectId, id, happening)));
    const body = `{"notificationType":"${eventType}","data":${data}}`;
    for (const destination of told) kept.set(idOf(id, destination), keptOf(destination, body));
  }
  const undone = database.transaction(async (tx) => {
    await insertEvent(tx, projectId, newId(), { type: eventType, groupRef: 'acme', data: '{"undone":true}' });
    throw new Error('undone');
  });
  await undone.catch(() => undefined);
}

/** The id of the message that tells a destination of an event (docs/invariants.md, 30). */
function idOf(eventId: string, destinationId: string): string {
  const hash = createHash('md5')
    .update(eventId + destinationId)
    .digest('hex');
  return `${eventId.slice(0, 15)}${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

/** A commit whose answer was lost is not made twice. */
async function keepOnce(keep: () => Promise<unknown>): Promise<void> {
  try {
    await keep();
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
  }
}

/** Values that another writer of JSON would write in another way. */
const values = [
  '1.50',
  '12345678901234567890',
  '1e400',
  '-0',
  '"\\u00e9\\/"',
  '"é\\u2028😀"',
  '{"b":1,"a":2.0}',
];

/** A message of an installation of its own. */
export async function messageTo(
  projectId: string,
  random: Random,
  destinationId: string,
): Promise<NewMessage> {
  const installationId = newId();
  const entries = Array.from({ length: 1 + random.int(3) }, (_, at) => ({
    json: `{"fields":{"n":${random.pick(values)}}, "text":"${random.text(200 + random.int(2_000))}"}`,
    key: { id: String(at), version: '2026-01-01T00:00:00.000Z', deleted: false },
  }));
  const names = { groupRef: 'acme', groupName: 'Acme', consumerRef: 'ada', consumerName: 'Ada' };
  const [message] = await cutMessages(
    {
      action: 'read',
      projectId,
      provider: 'hubspot',
      ...names,
      installationId,
      installationUpdateTime: '2026-01-01T00:00:00.000Z',
      objectName: 'people',
      rawObjectName: 'contacts',
    },
    entries,
    {
      projectId,
      operationId: null,
      installationId,
      groupRef: names.groupRef,
      object: 'people',
      destinationId,
      page: 1,
      publicUrl: 'https://svc.example',
    },
  );
  if (!message) throw new Error('no message was made');
  return message;
}
