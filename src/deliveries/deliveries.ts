import { record } from '../events/index.ts';
import type { Ground } from '../kit/ground.ts';
import type { AddressRules } from '../kit/http/address.ts';
import { createAnnouncer, defineKind, type RegisteredKind, type Share } from '../lanes/index.ts';
import { createDeadLetterCounter } from './dead-letters.ts';
import { createDeliveryLog, type DeliveryLog } from './delivery-log.ts';
import { deliveryKind, type DeliveryDeps } from './delivery-kind.ts';
import { createHandOver, type HandOver } from './hand-over.ts';
import { createDestinations, type Destinations } from './destinations.ts';
import { createKinds } from './kinds.ts';
import { createNotificationRoutes, type NotificationRoutes } from './notifications/index.ts';
import { createKnownDestinations, type KnownDestinations } from './known.ts';
import type { DestinationKind } from './kind.ts';
import type { MappedFields } from './outgoing.ts';
import { replayKind } from './replay/kind.ts';
import { createReplays, type Replays } from './replay/replays.ts';
import { sendTest } from './send-test.ts';
import { endDestinationFailing } from './store/destinations.ts';
import type { DestinationTest } from './schema.ts';

/** A destination as those see it who send there. */
export interface FoundDestination {
  id: string;
  name: string;
  type: string;
  status: 'active' | 'disabled';
  /** Why it is disabled. */
  reason?: string;
}

/** Why nothing can be delivered there now; undefined where it can. */
export function destinationFault(found: FoundDestination | undefined, name: string): string | undefined {
  if (!found) return `there is no destination ${name}`;
  if (found.status === 'active') return undefined;
  return `the destination ${found.name} is disabled${found.reason === undefined ? '' : ` (${found.reason})`}`;
}

export interface DeliveriesOptions {
  /** Data of customers: nothing leaves in the clear. */
  production: boolean;
  /** What the operator allows beyond public addresses. */
  egressAllow: AddressRules;
  /** Where destinations may write files; undefined in production. */
  filesFolder?: string | undefined;
  kinds?: readonly DestinationKind[];
  /** What objects are mapped to; nothing is told ahead of its records without it. */
  mappedFields?: MappedFields;
  /** How long this node's own lane holds without renewal. */
  leaseMs?: number;
}

/** The builder's destinations, and what is delivered to them. */
export interface Deliveries {
  readonly destinations: Destinations;
  readonly log: DeliveryLog;
  readonly replays: Replays;
  /** Which events are told, and where. */
  readonly notifications: NotificationRoutes;
  /** The work of their lanes. */
  readonly kinds: readonly RegisteredKind[];
  /** Sends what was just made. */
  readonly handOver: Pick<HandOver, 'offer' | 'offerTold'>;
  /** By id or name; at most two seconds old. */
  findDestination(projectId: string, nameOrId: string): Promise<FoundDestination | undefined>;
  /** What the deliveries of a lane share with others; undefined: it is not the lane of a destination. */
  shareOf(projectId: string, laneId: string): Promise<Share | undefined>;
  /** Deliveries that ran out of attempts and are kept, of all projects; counted to a bound. Undefined: it cannot be read now. */
  deadLetters(): Promise<number | undefined>;
  /** Sends a message without records, once and now. */
  test(projectId: string, nameOrId: string): Promise<DestinationTest>;
  /** Called with the destination after each commit of messages; the worker of the same process wants to know. */
  onQueued(listener: (destinationId: string) => void): void;
  /** Messages were kept for the destination: tells the workers of all nodes. */
  announce(destinationId: string): void;
  close(): Promise<void>;
}

export function createDeliveries(ground: Ground, options: DeliveriesOptions): Deliveries {
  const { database, log } = ground;
  const { production, egressAllow } = options;
  const known = createKnownDestinations(database);
  const announcer = createAnnouncer(database, log);
  const listeners = new Set<(destinationId: string) => void>();
  const list = options.kinds ?? createKinds(options);
  const kinds = new Map(list.map((kind) => [kind.type, kind]));
  const isRecordsOnly = (type: string): boolean => kinds.get(type)?.recordsOnly === true;
  const announce = (destinationId: string): void => {
    for (const listener of listeners) listener(destinationId);
    announcer.announce();
  };
  const context = { production, isAllowed: (host: string, port: number) => egressAllow.allows(host, port) };
  const destinations = createDestinations({ ground, known, kinds, context, announce });
  const disable: DeliveryDeps['disable'] = ({ projectId, destinationId: id, disable: why }) => {
    if (!why) return;
    destinations.disableFor(projectId, id, why).catch((error: unknown) => {
      log.warn(
        { err: error, projectId, destinationId: id },
        'a destination was not disabled; its next failure asks again',
      );
    });
  };
  const mappedFields = options.mappedFields ?? (async () => []);
  const kind = deliveryKind({ ground, known, kinds, context, mappedFields, disable });
  const handOver = createHandOver({ ground, known, kinds, announce }, kind, options);
  return {
    destinations,
    notifications: createNotificationRoutes(database, isRecordsOnly),
    log: createDeliveryLog(database, announce),
    replays: createReplays({ database, announce, isRecordsOnly }),
    kinds: [defineKind(kind), defineKind(replayKind({ ground, known, announce, isRecordsOnly }))],
    handOver,
    async findDestination(projectId, nameOrId) {
      const row = await known.find(projectId, nameOrId);
      if (!row) return undefined;
      const { id, name, type, status, reason } = row;
      return { id, name, type, status, ...(reason === null ? {} : { reason }) };
    },
    shareOf: shareFinder(known, kinds),
    deadLetters: createDeadLetterCounter(database),
    async test(projectId, nameOrId) {
      const row = await destinations.get(projectId, nameOrId);
      const details = { name: row.name };
      await record(database, { projectId, action: 'destination.tested', targetId: row.id, details });
      const told = await sendTest({ ground, kinds, context }, row);
      if (told.success) await endDestinationFailing(database, row);
      return told;
    },
    onQueued: (listener) => void listeners.add(listener),
    announce,
    async close() {
      await handOver.close();
      known.close();
      await Promise.all([announcer.close(), ...list.map((one) => one.close?.())]);
    },
  };
}

const mostOthers = 10_000;

/** The lane of a connection never becomes that of a destination, so each is looked for once. */
function shareFinder(
  known: KnownDestinations,
  kinds: ReadonlyMap<string, DestinationKind>,
): Deliveries['shareOf'] {
  const others = new Set<string>();
  return async (projectId, laneId) => {
    if (others.has(laneId)) return undefined;
    const row = await known.find(projectId, laneId);
    if (row) return [projectId, `${projectId} ${kinds.get(row.type)?.shareOf(row.metadata) ?? laneId}`];
    if (others.size >= mostOthers) others.clear();
    others.add(laneId);
    return undefined;
  };
}
