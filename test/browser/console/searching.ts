import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'vitest';
import type { SearchHits } from '../../../src/overview/schema.ts';
import { rawCall } from '../../raw-http.ts';
import { first, type ConsoleWorld, type Walk } from './world.ts';

interface Made {
  id: string;
  [name: string]: string;
}

/** What is typed, what the hit is called, where it leads, and what is seen there. */
type Sought = readonly [typed: string, word: string, leadsTo: string | RegExp, shows: string | RegExp];

const project = '/projects/default';

async function ask<Body = Made>(
  { platform }: ConsoleWorld,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await platform.call<Body>(method, `${project}/${path}`, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

async function latest(world: ConsoleWorld, noun: string): Promise<Made> {
  const { results } = await ask<{ results: Made[] }>(world, 'GET', `${noun}?pageSize=1`);
  return results[0] ?? { id: '' };
}

/** A call through the proxy, once it stands in the log. */
async function proxied(world: ConsoleWorld): Promise<string> {
  const { platform, customer } = world;
  const answer = await rawCall(platform.proxy, {
    target: '/crm/v3/objects/contacts?limit=1',
    headers: {
      'x-svc-proxy-version': '1',
      'x-svc-project-id': platform.projectId,
      'x-svc-installation-id': customer.installationId,
      'x-api-key': platform.apiKey,
    },
  });
  const id = String(answer.headers['x-svc-request-id']);
  await expect.poll(async () => (await latest(world, 'proxy-logs'))['requestId']).toBe(id);
  return id;
}

/** Makes what no earlier walk made. */
async function soughtMade(world: ConsoleWorld): Promise<Record<string, Made>> {
  const post = (noun: string, body: unknown): Promise<Made> => ask(world, 'POST', noun, body);
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' });
  const app = { provider: 'salesforce', clientId: 'sought-client', clientSecret: 'x' };
  const link = { integration: 'hubspot-crm', groupRef: 'acme', consumerRef: 'acme-user' };
  return {
    jwtKey: await post('jwt-keys', { label: 'sought pair', algorithm: 'RS256', publicKeyPem }),
    apiKey: await post('api-keys', { label: 'sought by name', scopes: ['read'] }),
    app: await post('provider-apps', app),
    link: await post('connect-links', link),
    topic: await post('topics', { name: 'sought-topic' }),
  };
}

/** One of each type. */
async function oneOfEach(world: ConsoleWorld): Promise<Record<SearchHits['hits'][number]['type'], Sought>> {
  const { installationId, connectionId } = world.customer;
  const call = await proxied(world);
  const { jwtKey, apiKey, app, link, topic } = await soughtMade(world);
  const [operation, delivery, replay, event, entry] = await Promise.all(
    ['operations', 'deliveries', 'replays', 'events', 'audit-log'].map((noun) => latest(world, noun)),
  );
  const [revision] = (
    await ask<{ results: Made[] }>(world, 'GET', 'integrations/hubspot-crm/revisions?pageSize=2')
  ).results.toReversed();
  const byId = (made: Made | undefined, word: string, noun: string): Sought => {
    const id = made?.id ?? '';
    return [id, word, `${noun}/${id}`, id];
  };
  const moment = '\\d{4}-\\d\\d-\\d\\dT[\\d%A.]+Z';
  return {
    operation: byId(operation, 'Operation', 'operations'),
    delivery: byId(delivery, 'Delivery', 'deliveries'),
    connection: byId({ id: connectionId }, 'Connection', 'connections'),
    installation: byId({ id: installationId }, 'Installation', 'installations'),
    group: ['acme', 'Group', 'operations?groupRef=acme', 'Operations'],
    consumer: ['acme-user', 'Consumer', 'connections?groupRef=acme&consumerRef=acme-user', 'acme'],
    integration: ['hubspot-no', 'Integration', /^integrations\/[\da-f-]{36}$/, 'hubspot-no-proxy'],
    revision: [
      revision?.id ?? '',
      'Revision',
      new RegExp(`^integrations/[\\da-f-]{36}\\?tab=revisions&revision=${revision?.id}$`),
      /What it changed:|The first one:/,
    ],
    destination: ['told', 'Destination', /^destinations\/[\da-f-]{36}$/, 'told'],
    topic: [topic?.id ?? '', 'Topic', 'notifications', 'Notifications'],
    replay: byId(replay, 'Replay', 'replays'),
    event: [event?.id ?? '', 'Event', `events?type=${event?.['type']}`, event?.['type'] ?? ''],
    proxyCall: [
      call,
      'Proxied call',
      new RegExp(`^proxy-logs\\?installationId=${installationId}&since=${moment}&until=${moment}$`),
      'GET /crm/v3/objects/contacts?limit',
    ],
    apiKey: ['sought by', 'API key', 'keys', apiKey?.['label'] ?? ''],
    jwtKey: [jwtKey?.['kid'] ?? '', 'Public key', 'keys?tab=public', 'sought pair'],
    providerApp: [app?.id ?? '', 'Provider app', 'providers?tab=apps', 'sought-client'],
    connectLink: [link?.id ?? '', 'Connect link', `audit-log?targetId=${link?.id}`, 'Connect link created'],
    auditEntry: [
      entry?.id ?? '',
      'Audit log',
      new RegExp(`^audit-log\\?from=${moment}&to=${moment}$`),
      'Topic created',
    ],
    person: [first.email, 'Person', 'people', first.email],
  };
}

/** Ctrl+K finds one of each type by what it is called, and leads to the page that shows it. */
export const hitOfEachType: Walk = async (world) => {
  const all = await oneOfEach(world);
  const page = await world.open(`${project}/settings`);
  await page.getByRole('button', { name: 'Search' }).waitFor();
  const below = (url: URL): string => url.pathname.slice(project.length + 1) + url.search;
  for (const [typed, word, leadsTo, shows] of Object.values(all)) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'What to look for' }).fill(typed);
    await page
      .getByRole('option')
      .filter({ has: page.getByText(new RegExp(`^${word}( · .*)?$`)) })
      .first()
      .click();
    await page.waitForURL((url) =>
      typeof leadsTo === 'string' ? below(url) === leadsTo : leadsTo.test(below(url)),
    );
    await page.getByRole('main').last().getByText(shows).first().waitFor();
  }
  await page.close();
};
