import { empty, json } from '../kit/index.ts';
import type { Call, JsonObject, Reply } from '../kit/index.ts';
import { invalid, isRefusal, missingFields, notFound } from './errors.ts';
import type { Refusal } from './errors.ts';
import { tableOf } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import { renderCreated, renderRead, renderUpdated, wantedOf } from './render.ts';
import { addressesOf } from './store-views.ts';
import type { ObjectType, Row } from './types.ts';
import { applyCreate, applyUpdate, archiveRow, findRow, planCreate, planUpdate, textOf } from './write.ts';

type Answer = Reply | Refusal;

/** GET /crm/v3/objects/{type}: 10 by default, at most 100, at most 50 with history. */
export function listObjects(hub: Hub, type: ObjectType, { call, access }: HubCall): Answer {
  const wanted = wantedOf(call);
  const limit = Number(call.query.get('limit') ?? 10);
  const max = wanted.history.length > 0 ? 50 : 100;
  if (!Number.isInteger(limit) || limit < 1 || limit > max)
    return invalid(`limit must be between 1 and ${max}`);
  const after = call.query.get('after') ?? '0';
  if (!/^\d+$/.test(after)) return invalid(`Unable to parse the paging cursor "${after}"`);
  const archived = call.query.get('archived') === 'true';
  const { page, next } = pageOf(
    tableOf(hub, type).rows,
    tableOf(hub, type).seek(Number(after)),
    archived,
    limit,
  );
  const { account } = access.grant;
  const body: JsonObject = { results: page.map((row) => renderRead(hub, type, row, account, wanted)) };
  if (next) body['paging'] = { next: { after: next.id, link: linkTo(hub, call, next.id) } };
  return json(200, body);
}

/** A page of rows and the first row of the next one. */
function pageOf(
  rows: Row[],
  start: number,
  archived: boolean,
  limit: number,
): { page: Row[]; next: Row | undefined } {
  const page: Row[] = [];
  for (let i = start; i < rows.length; i += 1) {
    const row = rows[i];
    if (!row || row.archived !== archived) continue;
    if (page.length === limit) return { page, next: row };
    page.push(row);
  }
  return { page, next: undefined };
}

export function linkTo(hub: Hub, call: Call, after: string): string {
  const query = new URLSearchParams(call.query);
  query.set('after', after);
  return `${hub.ground.url}${call.path}?${query.toString()}`;
}

export function getObject(hub: Hub, type: ObjectType, { call, access }: HubCall): Answer {
  const id = call.params['id'] ?? '';
  const archived = call.query.get('archived') === 'true';
  const row = archived ? archivedRow(hub, type, id) : findRow(hub, type, id, call.query.get('idProperty'));
  if (!row) return notFound();
  if (isRefusal(row)) return row;
  return json(200, renderRead(hub, type, row, access.grant.account, wantedOf(call)));
}

function archivedRow(hub: Hub, type: ObjectType, id: string): Row | undefined {
  const row = tableOf(hub, type).get(id);
  return row?.archived ? row : undefined;
}

export function createObject(hub: Hub, type: ObjectType, { body, access }: HubCall): Answer {
  const plan = planCreate(hub, type, body);
  if (isRefusal(plan)) return plan;
  return json(201, renderCreated(type, applyCreate(hub, plan), access.grant.account));
}

/** PATCH ignores associations. */
export function updateObject(hub: Hub, type: ObjectType, { call, body, access }: HubCall): Answer {
  const row = findRow(hub, type, call.params['id'] ?? '', call.query.get('idProperty'));
  if (!row) return notFound();
  if (isRefusal(row)) return row;
  if (body['properties'] === undefined) return missingFields(['properties']);
  const plan = planUpdate(hub, type, row, body['properties']);
  if (isRefusal(plan)) return plan;
  applyUpdate(hub, plan);
  return json(200, renderUpdated(type, row, Object.keys(plan.values), access.grant.account));
}

/** 204 whether there is anything to archive or not, also for an id that never was. */
export function deleteObject(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const id = call.params['id'] ?? '';
  if (!/^\d+$/.test(id)) return notFound();
  const row = tableOf(hub, type).current(id);
  if (row) archiveRow(hub, type, row);
  return empty(204);
}

/**
 * Merges both records into a new one; both old ids lead to it, and of contacts all addresses. The
 * primary's values hold; what it lacks is taken from the other.
 */
export function mergeObjects(hub: Hub, type: ObjectType, { body, access }: HubCall): Answer {
  const primaryId = textOf(body['primaryObjectId']);
  const otherId = textOf(body['objectIdToMerge']);
  if (!primaryId || !otherId) return missingFields(['primaryObjectId', 'objectIdToMerge']);
  const primary = findRow(hub, type, primaryId);
  const other = findRow(hub, type, otherId);
  if (!primary || !other) return notFound();
  if (isRefusal(primary) || isRefusal(other)) return notFound();
  if (primary === other) return invalid('A record cannot be merged with itself');
  const merged = mergeRows(hub, type, primary, other);
  return json(200, renderCreated(type, merged, access.grant.account));
}

function mergeRows(hub: Hub, type: ObjectType, primary: Row, other: Row): Row {
  const table = tableOf(hub, type);
  const { links } = hub.portal;
  const ids = [primary, other].flatMap((row) => [row.properties['hs_merged_object_ids'], row.id]);
  const values: Record<string, string> = {
    ...other.properties,
    ...primary.properties,
    hs_merged_object_ids: ids.filter(Boolean).join(';'),
  };
  const further = [primary, other].flatMap((row) => addressesOf(row.properties));
  const others = [...new Set(further)].filter((one) => one !== values['email']);
  if (others.length > 0) values['hs_additional_emails'] = others.join(';');
  for (const row of [primary, other]) table.purge(row);
  const merged = table.insert(values, hub.ground.clock.now());
  // The oldest creation date is kept.
  const created = Math.min(primary.createdAt, other.createdAt);
  table.date(merged, { createdAt: created });
  for (const row of [primary, other]) {
    table.lead(row.id, merged);
    links.move(type, row.id, merged.id);
  }
  const fields = { from: [primary.id, other.id] };
  hub.ground.ledger.effect({ kind: 'merge', object: type.plural, id: merged.id, fields });
  return merged;
}

/** Removes a record for good: it does not show in the archived list either. */
export function gdprDelete(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const id = textOf(body['objectId']);
  if (!id) return missingFields(['objectId']);
  const found = findRow(hub, type, id, textOf(body['idProperty'])) ?? tableOf(hub, type).get(id);
  if (!found) return notFound();
  if (isRefusal(found)) return found;
  hub.portal.links.dropRecord(type, found.id);
  tableOf(hub, type).purge(found);
  hub.ground.ledger.effect({ kind: 'purge', object: type.plural, id: found.id });
  return empty(204);
}
