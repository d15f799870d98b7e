import { empty, json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import {
  archiveLink,
  eachPair,
  liveRow,
  MAX_READ,
  MAX_PAGE,
  nothingFound,
  pairRefusal,
} from './associations.ts';
import type { Ends } from './associations.ts';
import { complete, inputsOf } from './batch.ts';
import { invalid, isRefusal, notFound } from './errors.ts';
import type { Refusal } from './errors.ts';
import type { Hub, HubCall } from './hub.ts';
import type { LinkType } from './link-types.ts';
import { linkTo } from './objects.ts';
import { linkName, renderRead } from './render.ts';
import { linkRecords, textOf } from './write.ts';

type Answer = Reply | Refusal;

/** Version 3 knows associations by name (`contact_to_company`), one entry for each, and ids as text. */
function named(hub: Hub, { from, to }: Ends, id: string): JsonObject[] {
  const { links } = hub.portal;
  return links
    .of(from, id, to)
    .flatMap((one) => one.types.map((type) => ({ id: one.id, type: linkName(links, type) })));
}

function typeNamed(hub: Hub, { from, to }: Ends, name: string): LinkType | Refusal {
  const { links } = hub.portal;
  links.types.unlabelled(from, to);
  const found = links.types
    .between(from, to)
    .find((type) => linkName(links, type) === name || String(type.typeId) === name);
  return found ?? invalid(`invalid association type: ${name}`);
}

/** GET /crm/v3/associations/{from}/{to}/types */
export function listTypes(hub: Hub, { from, to }: Ends): Answer {
  const { links } = hub.portal;
  links.types.unlabelled(from, to);
  const results = links.types
    .between(from, to)
    .map((type) => ({ id: String(type.typeId), name: linkName(links, type) }));
  return json(200, { results });
}

/** POST …/batch/read: a record without associations is an error entry, as in version 4. */
export function readBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  const inputs = inputsOf(body, MAX_READ);
  if (isRefusal(inputs)) return inputs;
  const results: JsonObject[] = [];
  const errors: JsonObject[] = [];
  for (const one of inputs) {
    const id = textOf(one.id) ?? '';
    const to = named(hub, ends, id);
    if (to.length > 0) results.push({ from: { id }, to });
    else errors.push(nothingFound(ends, id));
  }
  return complete(hub, 200, results, errors);
}

/** POST …/batch/create `{inputs: [{from, to, type}]}` */
export function createBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  return eachPair(hub, ends, body, 201, (pair, one) => {
    const name = textOf(one['type']) ?? '';
    const type = typeNamed(hub, ends, name);
    if (isRefusal(type)) return type;
    linkRecords(hub, type, pair.fromId, pair.toId);
    return { from: { id: pair.fromId }, to: { id: pair.toId }, type: name };
  });
}

/** POST …/batch/archive: only the named type goes. */
export function archiveBatch(hub: Hub, ends: Ends, { body }: HubCall): Answer {
  const made = eachPair(hub, ends, body, 200, (pair, one) => {
    const type = typeNamed(hub, ends, textOf(one['type']) ?? '');
    if (isRefusal(type)) return type;
    archiveLink(hub, ends, pair.fromId, pair.toId, [type.typeId]);
    return {};
  });
  return isRefusal(made) ? made : empty(204);
}

/** GET /crm/v3/objects/{type}/{id}/associations/{to} */
export function getLinks(hub: Hub, ends: Ends, { call }: HubCall): Answer {
  const id = call.params['id'] ?? '';
  if (!liveRow(hub, ends.from, id)) return notFound();
  const limit = Math.min(MAX_PAGE, Number(call.query.get('limit') ?? MAX_PAGE) || MAX_PAGE);
  const after = Number(call.query.get('after') ?? 0) || 0;
  const all = named(hub, ends, id);
  const body: JsonObject = { results: all.slice(after, after + limit) };
  const next = String(after + limit);
  if (after + limit < all.length) body['paging'] = { next: { after: next, link: linkTo(hub, call, next) } };
  return json(200, body);
}

/** PUT /crm/v3/objects/{type}/{id}/associations/{to}/{toId}/{name}: answers the record with its associations. */
export function putLink(hub: Hub, ends: Ends, { call, access }: HubCall): Answer {
  const pair = { fromId: call.params['id'] ?? '', toId: call.params['toId'] ?? '' };
  const refused = pairRefusal(hub, ends, pair);
  if (refused) return refused;
  const type = typeNamed(hub, ends, call.params['name'] ?? '');
  const row = liveRow(hub, ends.from, pair.fromId);
  if (isRefusal(type) || !row) return isRefusal(type) ? type : notFound();
  linkRecords(hub, type, pair.fromId, pair.toId);
  const wanted = { associations: [ends.to.plural] };
  return json(200, renderRead(hub, ends.from, row, access.grant.account, wanted));
}

/** DELETE of the same path: 204 whether it was there or not. */
export function deleteLink(hub: Hub, ends: Ends, { call }: HubCall): Answer {
  const type = typeNamed(hub, ends, call.params['name'] ?? '');
  if (isRefusal(type)) return type;
  archiveLink(hub, ends, call.params['id'] ?? '', call.params['toId'] ?? '', [type.typeId]);
  return empty(204);
}
