import { empty, isObject, json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { complete, inputsOf } from './batch.ts';
import { invalid, isRefusal, missingFields, notFound, refuse } from './errors.ts';
import type { Refusal } from './errors.ts';
import { tableOf } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import type { LinkType } from './link-types.ts';
import type { Linked } from './links.ts';
import { linkTo } from './objects.ts';
import type { ObjectType, Row } from './types.ts';
import { badLinks, linkRecords, linkTypeOf, textOf } from './write.ts';

type Answer = Reply | Refusal;
/** Both ends of an association path. */
export type Ends = { from: ObjectType; to: ObjectType };

export const MAX_READ = 1000;
const MAX_WRITE = 2000;
export const MAX_PAGE = 500;

/** A record without associations is an error entry and makes the answer a 207. */
export function readBatch(hub: Hub, { from, to }: Ends, { body }: HubCall): Answer {
  const inputs = inputsOf(body, MAX_READ);
  if (isRefusal(inputs)) return inputs;
  const results: JsonObject[] = [];
  const errors: JsonObject[] = [];
  for (const one of inputs) {
    const id = textOf(one.id) ?? '';
    const after = Number(textOf(one['after']) ?? 0);
    const linked = hub.portal.links.of(from, id, to);
    const page = linked.slice(after, after + MAX_PAGE);
    const next =
      after + MAX_PAGE < linked.length ? { paging: { next: { after: String(after + MAX_PAGE) } } } : {};
    if (page.length > 0) results.push({ from: { id }, to: page.map(renderLinked), ...next });
    else errors.push(nothingFound({ from, to }, id));
  }
  return complete(hub, 200, results, errors);
}

export function nothingFound({ from, to }: Ends, id: string): JsonObject {
  const message = `No ${to.singular} is associated with ${from.singular} ${id}.`;
  return refuse(207, message, 'OBJECT_NOT_FOUND', {
    subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
    context: { fromObjectId: [id] },
  }).body;
}

/** The id is a number on the wire, although HubSpot's OpenAPI document says string. */
function renderLinked(linked: Linked): JsonObject {
  return {
    toObjectId: Number(linked.id),
    associationTypes: linked.types.map(({ category, typeId, label }) => ({ category, typeId, label })),
  };
}

export function createBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  return eachPair(hub, ends, body, 201, (pair, one) => {
    const types = typesOf(hub, ends, one['types']);
    if (types === undefined) return badLinks();
    for (const type of types) linkRecords(hub, type, pair.fromId, pair.toId);
    return renderPair(ends, pair, types);
  });
}

export function createDefaultBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  return eachPair(hub, ends, body, 200, (pair) => linkDefault(hub, ends, pair));
}

/** Takes whole associations off; 204 whether they were there or not. */
export function archiveBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  const inputs = inputsOf(body, MAX_WRITE);
  if (isRefusal(inputs)) return inputs;
  for (const one of inputs) {
    const fromId = idIn(one['from']);
    const targets: unknown[] = Array.isArray(one['to']) ? one['to'] : [one['to']];
    for (const target of targets) archiveLink(hub, ends, fromId ?? '', idIn(target) ?? '');
  }
  return empty(204);
}

/** Takes labels off and leaves the rest of the association. */
export function archiveLabelsBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  const inputs = inputsOf(body, MAX_WRITE);
  if (isRefusal(inputs)) return inputs;
  for (const one of inputs) {
    const ids = (typesOf(hub, ends, one['types']) ?? []).map((type) => type.typeId);
    archiveLink(hub, ends, idIn(one['from']) ?? '', idIn(one['to']) ?? '', ids);
  }
  return empty(204);
}

export function archiveLink(
  hub: Hub,
  { from, to }: Ends,
  fromId: string,
  toId: string,
  typeIds?: number[],
): void {
  if (!hub.portal.links.remove(from, fromId, to, toId, typeIds)) return;
  const fields = { to: to.plural, toId, ...(typeIds ? { typeIds } : {}) };
  hub.ground.ledger.effect({ kind: 'disassociate', object: from.plural, id: fromId, fields });
}

export function getLinks(hub: Hub, { from, to }: Ends, { call }: HubCall): Answer {
  const id = call.params['id'] ?? '';
  if (!liveRow(hub, from, id)) return notFound();
  const limit = Math.min(MAX_PAGE, Number(call.query.get('limit') ?? MAX_PAGE) || MAX_PAGE);
  const after = Number(call.query.get('after') ?? 0) || 0;
  const linked = hub.portal.links.of(from, id, to);
  const body: JsonObject = { results: linked.slice(after, after + limit).map(renderLinked) };
  const next = String(after + limit);
  if (after + limit < linked.length)
    body['paging'] = { next: { after: next, link: linkTo(hub, call, next) } };
  return json(200, body);
}

/** PUT with labels: the body is the list of types. */
export function putLabelled(hub: Hub, ends: Ends, { call, list }: HubCall): Answer {
  const pair = { fromId: call.params['id'] ?? '', toId: call.params['toId'] ?? '' };
  const types = typesOf(hub, ends, list);
  if (types === undefined) return badLinks();
  const refused = pairRefusal(hub, ends, pair);
  if (refused) return refused;
  for (const type of types) linkRecords(hub, type, pair.fromId, pair.toId);
  return json(201, renderPair(ends, pair, types));
}

export function putDefault(hub: Hub, ends: Ends, { call }: HubCall): Answer {
  const pair = { fromId: call.params['id'] ?? '', toId: call.params['toId'] ?? '' };
  const refused = pairRefusal(hub, ends, pair);
  if (refused) return refused;
  const at = hub.ground.clock.iso();
  const made = [linkDefault(hub, ends, pair)];
  return json(200, { status: 'COMPLETE', results: made, startedAt: at, completedAt: at });
}

export function deleteLink(hub: Hub, ends: Ends, { call }: HubCall): Answer {
  archiveLink(hub, ends, call.params['id'] ?? '', call.params['toId'] ?? '');
  return empty(204);
}

export function listLabels(hub: Hub, { from, to }: Ends): Answer {
  hub.portal.links.types.unlabelled(from, to);
  const results = hub.portal.links.types
    .between(from, to)
    .map(({ category, typeId, label }) => ({ category, typeId, label }));
  return json(200, { results });
}

/** Makes a label in both directions; answers the type ids of both. */
export function createLabel(hub: Hub, { from, to }: Ends, { body }: HubCall): Answer {
  const label = textOf(body['label']);
  if (!label || !textOf(body['name']))
    return missingFields(['label', 'name'].filter((name) => !textOf(body[name])));
  const made = hub.portal.links.types.addLabel(from, to, label, textOf(body['inverseLabel']) ?? label);
  return json(200, {
    results: made.map((one) => ({ category: one.category, typeId: one.typeId, label: one.label })),
  });
}

export function renameLabel(hub: Hub, { from }: Ends, { body }: HubCall): Answer {
  const type = hub.portal.links.types.find(from, 'USER_DEFINED', Number(body['associationTypeId']));
  const label = textOf(body['label']);
  if (!type || !label) return badLinks();
  hub.portal.links.types.rename(type, label);
  return empty(204);
}

export function deleteLabel(hub: Hub, { from }: Ends, { call }: HubCall): Answer {
  const type = hub.portal.links.types.find(from, 'USER_DEFINED', Number(call.params['typeId']));
  if (!type) return notFound();
  hub.portal.links.types.remove(type);
  return empty(204);
}

type Pair = { fromId: string; toId: string };

/** Runs one write per input; failed ones become error entries of a 207. */
export function eachPair(
  hub: Hub,
  ends: Ends,
  body: JsonObject,
  status: 200 | 201,
  write: (pair: Pair, one: JsonObject) => JsonObject | Refusal,
): Answer {
  const inputs = inputsOf(body, MAX_WRITE);
  if (isRefusal(inputs)) return inputs;
  const results: JsonObject[] = [];
  const errors: JsonObject[] = [];
  for (const one of inputs) {
    const pair = { fromId: idIn(one['from']) ?? '', toId: idIn(one['to']) ?? '' };
    const made = pairRefusal(hub, ends, pair) ?? write(pair, one);
    const context = { fromObjectId: [pair.fromId], toObjectId: [pair.toId] };
    if (isRefusal(made)) errors.push({ ...made.body, context });
    else results.push(made);
  }
  return complete(hub, status, results, errors);
}

function linkDefault(hub: Hub, { from, to }: Ends, { fromId, toId }: Pair): JsonObject {
  const type = hub.portal.links.types.unlabelled(from, to);
  linkRecords(hub, type, fromId, toId);
  return {
    from: { id: fromId },
    to: { id: toId },
    associationSpec: { associationCategory: type.category, associationTypeId: type.typeId },
  };
}

function renderPair({ from, to }: Ends, { fromId, toId }: Pair, types: LinkType[]): JsonObject {
  return {
    fromObjectTypeId: from.typeId,
    fromObjectId: Number(fromId),
    toObjectTypeId: to.typeId,
    toObjectId: Number(toId),
    labels: types.map((one) => one.label).filter((label) => label !== null),
  };
}

export function pairRefusal(hub: Hub, { from, to }: Ends, { fromId, toId }: Pair): Refusal | undefined {
  if (from === to && fromId === toId) return invalid('A record cannot be associated with itself');
  const missing = [liveRow(hub, from, fromId) ? '' : fromId, liveRow(hub, to, toId) ? '' : toId].filter(
    Boolean,
  );
  if (missing.length === 0 && fromId !== '' && toId !== '') return undefined;
  const extra = { subCategory: 'crm.associations.INVALID_IDENTIFIER', context: { id: missing } };
  return invalid(`Invalid object id in association: ${missing.join(', ')}`, extra);
}

export function liveRow(hub: Hub, type: ObjectType, id: string): Row | undefined {
  const row = tableOf(hub, type).get(id);
  return row?.archived ? undefined : row;
}

function typesOf(hub: Hub, { from, to }: Ends, specs: unknown): LinkType[] | undefined {
  if (!Array.isArray(specs) || specs.length === 0) return undefined;
  hub.portal.links.types.unlabelled(from, to);
  const types = specs.map((spec: unknown) => linkTypeOf(hub, from, spec));
  const known = types.filter((one) => one !== undefined && one.to === to);
  return known.length === types.length ? (known as LinkType[]) : undefined;
}

function idIn(value: unknown): string | undefined {
  return isObject(value) ? textOf(value['id']) : undefined;
}
