import { timingSafeEqual } from 'node:crypto';
import { record, type Reach } from '../events/index.ts';
import type { Database } from '../kit/db/database.ts';
import { firstIdAt, isId, momentOf } from '../kit/ids.ts';
import { createLookup } from '../kit/lookup.ts';
import { beforeIdOf, pageOf } from '../kit/paging.ts';
import { problem } from '../kit/problem.ts';
import { decode } from './encoding.ts';
import { keyOf } from './destinations.ts';
import { hashOf } from './messages.ts';
import type { Delivery, DeliveryDetail, DeliveryPage, DeliveryQuery } from './schema.ts';
import {
  deliverAgain,
  findDelivery,
  findLinks,
  listDeliveries,
  type DeliveryDetailRow,
  type DeliveryFilter,
  type DeliveryRow,
  type LinkRow,
} from './store/deliveries.ts';
import { holdDestination, loadDestinations } from './store/destinations.ts';
import { loadStoredResult } from './store/load.ts';

/** What became of messages. Every function throws not-found for what the caller does not reach. */
export interface DeliveryLog {
  list(reach: Reach, query: DeliveryQuery): Promise<DeliveryPage>;
  get(reach: Reach, id: string, includeBody: boolean): Promise<DeliveryDetail>;
  /** Queues it again, at once. Throws delivery-pending. */
  retry(reach: Reach, id: string): Promise<Delivery>;
  /** The records of a message that only links to them, for whoever has the link. */
  resultOf(link: { projectId: string; id: string; secret: string }): Promise<Buffer>;
}

export function createDeliveryLog(
  database: Database,
  announce: (destinationId: string) => void,
): DeliveryLog {
  const linkOf = createLookup<LinkRow>(async (keys) => {
    const parsed = keys.map((key) => ({ projectId: key.slice(0, 36), id: key.slice(37) }));
    const rows = await findLinks(database, parsed);
    return new Map([...rows].map(([at, row]) => [keys[at] ?? '', row]));
  });
  return {
    async list(reach, query) {
      const filter = await filterOf(database, reach, query);
      const rows = filter ? await listDeliveries(database, reach, filter) : [];
      const { results, pagination } = pageOf(rows, query.pageSize, ({ id }) => id);
      return { results: results.map((row) => present(reach.projectId, row)), pagination };
    },
    async get(reach, id, includeBody) {
      const row = await find(database, reach, id, includeBody);
      const body = row.body ? (await decode(row.body, row.encoding)).toString() : undefined;
      return {
        ...present(reach.projectId, row),
        attempts: row.log,
        ...(body === undefined ? {} : { body }),
      };
    },
    async retry(reach, id) {
      const { projectId } = reach;
      const row = await find(database, reach, id, false);
      if (row.status === 'pending') throw problem('delivery-pending');
      if (!row.has_body) throw problem('message-not-kept');
      await database.transaction(async (tx) => {
        const destination = await holdDestination(tx, { projectId, id: row.destination_id });
        if (!destination)
          throw problem('not-found', {
            detail: `The destination ${row.destination_id} of the delivery is gone.`,
          });
        if (!(await deliverAgain(tx, projectId, row))) throw problem('delivery-pending');
        await record(tx, {
          projectId,
          action: 'delivery.retried',
          targetId: id,
          details: { groupRef: row.group_ref ?? undefined, destination: destination.name },
        });
      });
      announce(row.destination_id);
      return present(projectId, await find(database, reach, id, false));
    },
    async resultOf({ projectId, id, secret }) {
      const key = `${projectId} ${id}`;
      const link = isId(projectId) && isId(id) ? (await linkOf([key])).get(key) : undefined;
      if (!link || link.over || !timingSafeEqual(link.link_hash, hashOf(secret))) throw deadLink();
      const stored = await loadStoredResult(database, projectId, id);
      if (!stored) throw deadLink();
      return decode(stored.result, stored.encoding);
    },
  };
}

/** Undefined when nothing can match. */
async function filterOf(
  database: Database,
  { projectId }: Reach,
  query: DeliveryQuery,
): Promise<DeliveryFilter | undefined> {
  const { destination, installationId, operationId, from, to, pageSize, pageToken } = query;
  if ([installationId, operationId].some((id) => id !== undefined && !isId(id))) return undefined;
  const destinationId =
    destination === undefined || isId(destination)
      ? destination
      : (await loadDestinations(database, [keyOf(projectId, destination)]))[0]?.id;
  // The id of one that was deleted still finds what went there.
  if (destination !== undefined && destinationId === undefined)
    throw problem('not-found', { detail: `There is no destination ${destination}.` });
  const before = beforeIdOf(pageToken);
  const latest = to === undefined ? before : firstIdAt(to);
  return {
    before: before < latest ? before : latest,
    from: from === undefined ? '00000000-0000-0000-0000-000000000000' : firstIdAt(from),
    limit: pageSize + 1,
    destinationId,
    installationId,
    operationId,
    status: query.status,
    object: query.object,
    groupRef: query.groupRef,
  };
}

async function find(
  database: Database,
  reach: Reach,
  id: string,
  includeBody: boolean,
): Promise<DeliveryDetailRow> {
  const row = isId(id) ? await findDelivery(database, reach, id, includeBody) : undefined;
  if (!row) throw problem('not-found', { detail: `There is no delivery ${id}.` });
  return row;
}

function present(projectId: string, row: DeliveryRow): Delivery {
  return {
    id: row.id,
    projectId,
    destinationId: row.destination_id,
    ...(row.event_type === null ? {} : { notificationType: row.event_type }),
    ...(row.installation_id === null ? {} : { installationId: row.installation_id }),
    ...(row.group_ref === null ? {} : { groupRef: row.group_ref }),
    ...(row.object === null ? {} : { objectName: row.object }),
    ...(row.operation_id === null ? {} : { operationId: row.operation_id }),
    status: row.status,
    numRecords: row.records,
    bytes: row.bytes,
    attemptCount: row.attempts,
    ...(row.http_status === null ? {} : { httpStatus: row.http_status }),
    ...(row.error === null ? {} : { error: row.error }),
    createTime: momentOf(row.id),
    ...(row.last_at === null ? {} : { lastAttemptTime: row.last_at.toISOString() }),
    ...(row.status === 'pending' && row.next_at ? { nextAttemptTime: row.next_at.toISOString() } : {}),
  };
}

/** A wrong secret, an unknown message and a link whose time is over look the same. */
function deadLink() {
  return problem('not-found', {
    detail:
      'The link is not known, or its time is over: it is good for 15 minutes after the last attempt to deliver its message.',
    remedy:
      'Send the delivery again: POST …/deliveries/{id}:retry, or a replay to another destination. The link of its message is good again then.',
  });
}
