import { cutMessages, keepMessages, type MessageEntry } from '../src/deliveries/index.ts';
import type { Database } from '../src/kit/db/database.ts';
import { statement } from '../src/kit/db/statement.ts';
import { newId } from '../src/kit/ids.ts';
import { announce, type QueueTarget } from './queue.ts';
import type { Stage } from './stage.ts';

/** A destination and the lane of what waits for it. */
export type DestinationLane = Pick<QueueTarget, 'projectId' | 'laneId'>;

/** Made through the API, one after the other. */
export async function makeDestinations(
  { call, projectId }: Stage,
  wanted: readonly { type: string; metadata: object; secrets?: object }[],
): Promise<DestinationLane[]> {
  const made: DestinationLane[] = [];
  for (const [n, one] of wanted.entries()) {
    const body = { name: `d${n}`, ...one };
    const { id } = await call<{ id: string }>('POST', `/v1/projects/${projectId}/destinations`, body);
    made.push({ projectId, laneId: id });
  }
  return made;
}

/** What a message is made of. */
export interface MessageParts {
  to: DestinationLane;
  entries: readonly MessageEntry[];
}

const perStatement = 100;

/** Keeps a message of each group of entries for its destination, by the statement of the product. */
export async function keepEach(database: Database, groups: Iterable<MessageParts>): Promise<void> {
  const installationId = newId();
  let page = 0;
  let made: ReturnType<typeof cutMessages>[] = [];
  const keep = async () => keepMessages(database, (await Promise.all(made)).flat());
  for (const { to, entries } of groups) {
    page += 1;
    made.push(
      cutMessages(envelopeOf(to.projectId, installationId), entries, {
        projectId: to.projectId,
        operationId: null,
        installationId,
        groupRef: 'g',
        object: 'contacts',
        destinationId: to.laneId,
        page,
        publicUrl: 'http://127.0.0.1',
      }),
    );
    if (made.length < perStatement) continue;
    await keep();
    made = [];
  }
  await keep();
}

function envelopeOf(projectId: string, installationId: string): Parameters<typeof cutMessages>[0] {
  return {
    action: 'read',
    projectId,
    provider: 'hubspot',
    groupRef: 'g',
    groupName: 'g',
    consumerRef: 'c',
    consumerName: 'c',
    installationId,
    installationUpdateTime: new Date().toISOString(),
    objectName: 'contacts',
    rawObjectName: 'contacts',
  };
}

const hold = statement(
  'bench_hold',
  `INSERT INTO lane (project_id, id, due_at, paused) SELECT $1, id, 'infinity', true FROM unnest($2::uuid[]) AS i(id)
  ON CONFLICT (project_id, id) DO UPDATE SET paused = true, due_at = 'infinity'`,
);
const letGo = statement(
  'bench_let_go',
  `UPDATE lane SET paused = false, due_at = svc_now(), wakes = wakes + 1 WHERE project_id = $1 AND id = ANY ($2)`,
);

/** Nothing is taken from held lanes; of any number of lanes in one statement. */
export async function setHeld(
  database: Database,
  lanes: readonly DestinationLane[],
  held: boolean,
): Promise<void> {
  await database.rows(held ? hold : letGo, [lanes[0]?.projectId, lanes.map(({ laneId }) => laneId)]);
  if (!held) await announce(database);
}
