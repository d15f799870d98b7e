import type { SearchHit } from '@svc/client';

type Place = readonly [word: string, path: (hit: SearchHit) => string];

const encode = encodeURIComponent;
const under =
  (noun: string): Place[1] =>
  ({ id }) =>
    `${noun}/${encode(id)}`;

/** A list, with its filters. */
const list = (noun: string, filters: Record<string, string | undefined> = {}): string => {
  const set = Object.entries(filters).filter((one): one is [string, string] => one[1] !== undefined);
  return set.length === 0 ? noun : `${noun}?${new URLSearchParams(set).toString()}`;
};

/** The millisecond in which a thing was made, which its id begins with: lists that have no filter by id find it by that. */
function millisecondOf(id: string): [from: string, to: string] {
  const at = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  return [new Date(at).toISOString(), new Date(at + 1).toISOString()];
}

/** What each sort of hit is called, and where it is shown, below the project. */
export const places: Readonly<Record<SearchHit['type'], Place>> = {
  operation: ['Operation', under('operations')],
  delivery: ['Delivery', under('deliveries')],
  connection: ['Connection', under('connections')],
  installation: ['Installation', under('installations')],
  destination: ['Destination', under('destinations')],
  replay: ['Replay', under('replays')],
  integration: ['Integration', under('integrations')],
  revision: [
    'Revision',
    ({ id, integrationId = '' }) =>
      list(`integrations/${encode(integrationId)}`, { tab: 'revisions', revision: id }),
  ],
  group: ['Group', ({ id }) => list('operations', { groupRef: id })],
  consumer: ['Consumer', ({ id, groupRef = '' }) => list('connections', { groupRef, consumerRef: id })],
  event: ['Event', ({ name }) => list('events', { type: name })],
  topic: ['Topic', () => 'notifications'],
  proxyCall: [
    'Proxied call',
    ({ id, installationId }) => {
      const [since, until] = millisecondOf(id);
      return list('proxy-logs', { installationId, since, until });
    },
  ],
  apiKey: ['API key', () => 'keys'],
  jwtKey: ['Public key', () => list('keys', { tab: 'public' })],
  providerApp: ['Provider app', () => list('providers', { tab: 'apps' })],
  // No page lists them; the audit log has who made it, and when it was opened.
  connectLink: ['Connect link', ({ id }) => list('audit-log', { targetId: id })],
  auditEntry: [
    'Audit log',
    ({ id }) => {
      const [from, to] = millisecondOf(id);
      return list('audit-log', { from, to });
    },
  ],
  person: ['Person', () => 'people'],
};
