import { json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { invalid, notFound } from './errors.ts';
import type { Refusal } from './errors.ts';
import type { Hub, HubCall } from './hub.ts';
import { linkTo } from './objects.ts';

type Answer = Reply | Refusal;

const PLACE = { timeZone: 'Europe/Berlin', utcOffset: '+01:00', utcOffsetMilliseconds: 3_600_000 };

export function accountDetails(_hub: Hub, { access }: HubCall): Answer {
  return json(200, {
    portalId: Number(access.grant.account),
    accountType: 'DEVELOPER_TEST',
    ...PLACE,
    companyCurrency: 'EUR',
    additionalCurrencies: [],
    uiDomain: 'app.hubspot.com',
    dataHostingLocation: 'na1',
  });
}

export function whoAmI(_hub: Hub, { access }: HubCall): Answer {
  return json(200, {
    portalId: Number(access.grant.account),
    accountType: 'DEVELOPER_TEST',
    currency: 'EUR',
    ...PLACE,
  });
}

/** GET /crm/v3/owners: at most 500 a page, in order of id; with `archived=true` only the archived ones. */
export function listOwners(hub: Hub, { call }: HubCall): Answer {
  const limit = Number(call.query.get('limit') ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) return invalid('limit must be between 1 and 500');
  const email = call.query.get('email')?.toLowerCase();
  const archived = call.query.get('archived') === 'true';
  const owners = hub.portal.owners.filter(
    (one) => one.archived === archived && (!email || one.email === email),
  );
  const after = Number(call.query.get('after') ?? 0) || 0;
  const rest = owners.filter(({ id }) => Number(id) >= after);
  const body: JsonObject = { results: rest.slice(0, limit) };
  const next = rest[limit]?.id;
  if (next !== undefined) body['paging'] = { next: { after: next, link: linkTo(hub, call, next) } };
  return json(200, body);
}

export function getOwner(hub: Hub, { call }: HubCall): Answer {
  const id = call.params['id'] ?? '';
  const byUser = call.query.get('idProperty') === 'userId';
  const owner = hub.portal.owners.find((one) => (byUser ? String(one.userId) : one.id) === id);
  return owner ? json(200, owner) : notFound();
}
