import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { cutMessages, keepMessages } from '../src/deliveries/index.ts';
import type { Database } from '../src/kit/db/database.ts';
import { statement } from '../src/kit/db/statement.ts';
import { newId } from '../src/kit/ids.ts';
import { install, deploy, type Customer } from './customer.ts';
import { freePort } from './free-port.ts';
import { joinAs } from './people.ts';
import type { Answer, Platform } from './platform.ts';

/** The things of one project that a request can name. */
export interface Refs {
  project: string;
  integration: string;
  /** An integration that no group has installed. */
  bare: string;
  revision: string;
  /** A person, and an invitation that waits. */
  member: string;
  invitation: string;
  apiKey: string;
  jwtKey: string;
  providerApp: string;
  connection: string;
  installation: string;
  operation: string;
  destination: string;
  /** One that failed for good. */
  delivery: string;
  /** One that runs. */
  replay: string;
  erasure: string;
  /** A link, and what stands behind its `#`. */
  connectLink: string;
  connectLinkToken: string;
  /** A topic without routes, and the routes of another one. */
  topic: string;
  eventTopicRoute: string;
  topicDestinationRoute: string;
  group: string;
}

/** A project with two groups, each with everything a group can have. */
export interface World {
  /** The platform, called with the project's first key. */
  platform: Platform;
  projectName: string;
  acme: Refs;
  globex: Refs;
  makeKey(given: Record<string, unknown>): Promise<{ id: string; key: string }>;
  /** A front-end token of the group. */
  token(groupRef: string): Promise<string>;
}

const pair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

/** A second project on the same platform. */
export async function openProject(platform: Platform, name: string): Promise<Platform> {
  const made = must(
    await platform.call<{ id: string; apiKey: { key: string } }>('POST', '/projects', { name }),
  );
  const { id: projectId, apiKey } = made;
  return {
    ...platform,
    projectId,
    apiKey: apiKey.key,
    call: (method, path, body, options) =>
      platform.call(method, path, body, { ...options, key: options?.key ?? apiKey.key }),
  };
}

/** Fills a project. Its groups carry its name, so that a leak shows its origin. */
export async function fill(platform: Platform, projectName: string, database: Database): Promise<World> {
  const base = `/projects/${platform.projectId}`;
  await deploy(platform);
  const integrations = must(
    await platform.call<{ id: string; name: string; latestRevision: { id: string } }[]>(
      'GET',
      `${base}/integrations`,
    ),
  );
  const named = (wanted: string) => integrations.find(({ name }) => name === wanted);
  const apps = must(await platform.call<{ id: string }[]>('GET', `${base}/provider-apps`));
  const makeKey: World['makeKey'] = async (given) =>
    must(await platform.call('POST', `${base}/api-keys`, { label: 'walk', ...given }));
  const keys = pair();
  const { kid } = must(
    await platform.call<{ kid: string }>('POST', `${base}/jwt-keys`, {
      label: 'walk',
      algorithm: 'RS256',
      publicKeyPem: keys.publicKey,
    }),
  );
  const destination = (await makeDestination(platform)).id;
  const shared = {
    project: platform.projectId,
    integration: named('hubspot-crm')?.id ?? '',
    bare: named('hubspot-no-proxy')?.id ?? '',
    revision: named('hubspot-crm')?.latestRevision.id ?? '',
    ...(await makePeople(platform, projectName)),
    apiKey: (await makeKey({ scopes: ['read'] })).id,
    jwtKey: kid,
    providerApp: apps[0]?.id ?? '',
    destination,
    replay: await makeReplay(database, platform.projectId, destination),
    erasure: await makeErasure(platform),
    ...(await makeTopics(platform, destination)),
  };
  const groupOf = async (groupRef: string): Promise<Refs> => {
    const contacts = { objectName: 'contacts', backfill: { defaultPeriod: { days: 1 } } };
    const customer = await install(platform, 'hubspot-crm', groupRef, { read: { objects: { contacts } } });
    return {
      ...shared,
      connection: customer.connectionId,
      installation: customer.installationId,
      operation: await failedWrite(customer),
      delivery: await failedDelivery(database, {
        projectId: platform.projectId,
        installationId: customer.installationId,
        groupRef,
        destinationId: shared.destination,
      }),
      ...(await makeConnectLink(platform, shared.integration, groupRef)),
      group: groupRef,
    };
  };
  return {
    platform,
    projectName,
    acme: await groupOf(`${projectName}-acme`),
    globex: await groupOf(`${projectName}-globex`),
    makeKey,
    token: (groupRef) =>
      new SignJWT({ groupRef, consumerRef: `${groupRef}-user` })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setExpirationTime(Math.floor(Date.now() / 1000) + 500)
        .sign(createPrivateKey(keys.privateKey)),
  };
}

/** An address where nothing listens. */
async function makeDestination(platform: Platform): Promise<{ id: string }> {
  const metadata = { url: `http://127.0.0.1:${await freePort()}/` };
  const body = { name: 'nowhere', type: 'webhook', metadata };
  return must(
    await platform.call<{ id: string }>('POST', `/projects/${platform.projectId}/destinations`, body),
  );
}

async function makeErasure(platform: Platform): Promise<string> {
  const path = `/projects/${platform.projectId}/erasures`;
  return must(await platform.call<{ id: string }>('POST', path, { groupRef: 'nobody' })).id;
}

async function makeConnectLink(
  platform: Platform,
  integration: string,
  groupRef: string,
): Promise<Pick<Refs, 'connectLink' | 'connectLinkToken'>> {
  const body = { integration, groupRef, consumerRef: `${groupRef}-user` };
  const path = `/projects/${platform.projectId}/connect-links`;
  const { id, url } = must(await platform.call<{ id: string; url: string }>('POST', path, body));
  return { connectLink: id, connectLinkToken: new URL(url).hash.slice(1) };
}

async function makePeople(
  platform: Platform,
  projectName: string,
): Promise<Pick<Refs, 'member' | 'invitation'>> {
  const { personId: member } = await joinAs(platform, `somebody@${projectName}.example`, 'viewer');
  const path = `/projects/${platform.projectId}/invitations`;
  const body = { email: `invited@${projectName}.example`, role: 'viewer' };
  const { id: invitation } = must(await platform.call<{ id: string }>('POST', path, body));
  return { member, invitation };
}

/** No worker has taken it. */
async function makeReplay(database: Database, projectId: string, destinationId: string): Promise<string> {
  const id = newId();
  await database.raw(
    `INSERT INTO replay (project_id, id, destination_id, filter, place, until) VALUES ($1, $2, $3, '{}', $2, $2)`,
    [projectId, id, destinationId],
  );
  return id;
}

async function makeTopics(
  platform: Platform,
  destinationId: string,
): Promise<Pick<Refs, 'topic' | 'eventTopicRoute' | 'topicDestinationRoute'>> {
  const make = async (path: string, body: object): Promise<string> =>
    must(await platform.call<{ id: string }>('POST', `/projects/${platform.projectId}/${path}`, body)).id;
  const topicId = await make('topics', { name: 'routed' });
  const eventType = 'read.triggered.error';
  return {
    topic: await make('topics', { name: 'alone' }),
    eventTopicRoute: await make('notification-event-topic-routes', { eventType, topicId }),
    topicDestinationRoute: await make('topic-destination-routes', { topicId, destinationId }),
  };
}

const unqueue = statement('walk_unqueue', 'DELETE FROM work WHERE ref = $1');

/** A delivery that can be sent again. */
async function failedDelivery(
  database: Database,
  place: { projectId: string; installationId: string; groupRef: string; destinationId: string },
): Promise<string> {
  const envelope = {
    ...place,
    action: 'read',
    provider: 'hubspot',
    groupName: 'Acme',
    consumerRef: 'ada',
    consumerName: 'Ada',
    installationUpdateTime: '2026-01-02T03:04:05.678Z',
    objectName: 'contacts',
    rawObjectName: 'contacts',
  } as const;
  const entry = { json: '{"raw":{}}', key: { id: '1', version: '1', deleted: false } };
  const origin = { ...place, operationId: null, object: 'contacts', page: 1, publicUrl: '' };
  const [message] = await cutMessages(envelope, [entry], origin);
  if (!message) throw new Error('an entry makes a message');
  // In one commit, so that no worker sees it.
  await database.transaction(async (tx) => {
    await keepMessages(tx, [message]);
    await tx.rows(unqueue, [message.id]);
  });
  await database.raw(
    `INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
    VALUES ($1, $2, $3, 'failed', 'failed', 10, svc_now(), svc_now())
    ON CONFLICT (project_id, message_id, destination_id) DO UPDATE SET status = 'failed', ended = 'failed'`,
    [place.projectId, message.id, place.destinationId],
  );
  return message.id;
}

/** An operation that can be retried. */
async function failedWrite(customer: Customer): Promise<string> {
  const answer = await customer.write('contacts', {
    type: 'update',
    record: { id: '404404', email: 'a@b.c' },
  });
  return answer.body.operationId;
}

function must<Body>(answer: Answer<Body>): Body {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}
