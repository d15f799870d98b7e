import { Type } from 'typebox';
import { EventTypeName } from '../events/schema.ts';
import { portable, type Portable, type RowFault } from '../kit/db/portable.ts';
import { orNull, text, timestamp, times, uuid } from '../kit/db/portable-schema.ts';
import { createKinds } from './kinds.ts';
import { faultsOf } from './metadata.ts';
import { TopicName } from './notifications/schema.ts';
import { DestinationName } from './schema.ts';
import { sealedDestinationColumns, StoredSecrets } from './secrets.ts';

const ofDeliveries = 'it is about deliveries, which stay behind';
const nameTaken = 'another one has this name there';
const isThere = 'the same route is there under another id';
const [secrets] = sealedDestinationColumns;
if (!secrets) throw new Error('destinations have a sealed column');

const kinds = createKinds();
/** Where an address may lead is asked when something is sent there; a development's destinations are looked at as such. */
const context = { production: false, isAllowed: () => true };

interface Row {
  type: string;
  metadata: object;
}

/** As where a destination is made: what its kind says of its metadata and of each set of its secrets. */
function kindFaults({ type, metadata }: Row, { current, former = [] }: StoredSecrets): RowFault[] {
  const kind = kinds.find((one) => one.type === type);
  if (!kind) return [{ name: 'type', detail: `must be one of ${kinds.map((one) => one.type).join(', ')}` }];
  return [current, ...former.map(({ secrets: before }) => before)].flatMap((one) =>
    faultsOf(kind, { metadata, secrets: one }, context).map(({ name, detail }) => ({ name, detail })),
  );
}

/** What of this room goes along with a project, in the order in which it comes in. */
export const portableDeliveries: readonly Portable[] = [
  portable({
    kind: 'destinations',
    table: 'destination',
    key: { id: uuid },
    columns: {
      name: DestinationName,
      type: text(64),
      metadata: Type.Object({}),
      status: Type.Enum(['active', 'disabled']),
      reason: orNull(Type.String({ maxLength: 10_000 })),
      ...times,
    },
    left: { failing_since: ofDeliveries, dead_letters: ofDeliveries, dead_since: ofDeliveries },
    sealed: { column: 'secrets', place: secrets.place, shape: StoredSecrets },
    rules: kindFaults,
    called: 't.name',
    only: [{ same: 'lower(o.name) = lower(r.name)', name: 'r.name', reason: nameTaken }],
    held: 'KEY SHARE',
  }),
  portable({
    kind: 'topics',
    table: 'topic',
    key: { id: uuid },
    columns: { name: TopicName, ...times },
    only: [{ same: 'lower(o.name) = lower(r.name)', name: 'r.name', reason: nameTaken }],
    held: 'KEY SHARE',
  }),
  portable({
    kind: 'eventTopicRoutes',
    table: 'event_topic_route',
    key: { id: uuid },
    columns: { event_type: EventTypeName, topic_id: uuid, created_at: timestamp },
    only: [
      {
        same: 'o.event_type = r.event_type AND o.topic_id = r.topic_id',
        name: 'r.event_type',
        reason: isThere,
      },
    ],
  }),
  portable({
    kind: 'topicDestinationRoutes',
    table: 'topic_destination_route',
    key: { id: uuid },
    columns: { topic_id: uuid, destination_id: uuid, created_at: timestamp },
    only: [
      {
        same: 'o.topic_id = r.topic_id AND o.destination_id = r.destination_id',
        name: 'r.id::text',
        reason: isThere,
      },
    ],
  }),
  portable({
    kind: 'notificationRoutes',
    table: 'notification_route',
    key: { event_type: EventTypeName, destination_id: uuid },
    columns: {},
  }),
];
