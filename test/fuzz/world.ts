import type { Database } from '../../src/kit/db/database.ts';
import { fill, openProject, type Refs } from '../access-world.ts';
import { connect, fault } from '../customer.ts';
import { becomeOwner, openBrowser, password, tokenOf, type Browser } from '../people.ts';
import type { CallOptions, Platform } from '../platform.ts';
import type { Known } from './arbitrary.ts';
import type { Operation } from './document.ts';
import type { Made } from './examples.ts';

/** What a fuzz names and calls with. */
export interface World {
  /** Of the project that is asked and changed. */
  known: Known;
  /** Of another one, so that a deletion takes nothing away from the operations that follow. */
  spare: Known;
  made: Made;
  /** As whom the operation is called: with a session where only a signed-in person may, otherwise with a key of the project. */
  callerOf(operation: Operation): CallOptions;
}

export async function makeWorld(platform: Platform, database: Database): Promise<World> {
  const other = await openProject(platform, 'spare');
  const { acme: refs } = await fill(platform, 'default', database);
  const { acme: first, globex: second } = await fill(other, 'spare', database);
  await allowWrites(platform, refs);
  await connect(platform, 'hubspot', 'others');
  // Where the manifest sends what is read.
  await makeDestination(platform, 'd');
  const owner = await becomeOwner(platform);
  const leaving = await anotherSession(platform);
  const ended = await anotherSession(platform);
  return {
    known: {
      ...namesOf(refs),
      operationId: [await lostWrite(platform, refs), refs.operation],
      sessionId: [ended.sessionId],
      password: [password],
      currentPassword: [password],
      newPassword: [password],
      // Enabling one replays what failed there, which leaves nothing to retry.
      'enableDestination/destination': ['d', refs.destination],
      provider: ['hubspot', 'salesforce'],
      objectName: ['contacts', 'companies'],
      index: ['0'],
      q: ['acme'],
      record: [{ email: 'a@example.com' }, { id: '1', firstname: 'Ada' }, { id: '1' }],
      op: ['add', 'replace', 'remove'],
      path: ['', '/objectName', '/selectedFieldSettings', '/selectedFieldSettings/email'],
      '*': ['contacts', 'email', 'firstname', 'constructor'],
    },
    spare: {
      ...namesOf(first),
      integrationIdOrName: [first.bare],
      // The deletion of a connection takes its installation along.
      installationId: [second.installation],
      'deleteNotificationEventTopicRoute/routeId': [first.eventTopicRoute],
      'deleteTopicDestinationRoute/routeId': [first.topicDestinationRoute],
      destination: [await makeDestination(other, 'spare')],
      sessionId: [ended.sessionId],
    },
    made: {
      refs,
      address: 'owner@example.com',
      password,
      invited: await invite(platform, 'looked-at@example.com'),
      accepted: await invite(platform, 'accepted@example.com'),
      file: await exported(platform),
    },
    callerOf: (operation) => {
      if (operation.isForPeople) return sessionOf(operation.operationId === 'signOut' ? leaving : owner);
      if (operation.isPublic) return { key: null, headers: ownPage };
      return operation.method === 'DELETE' ? { key: other.apiKey } : {};
    },
  };
}

/** The values by the names that parameters and properties give them. */
function namesOf(refs: Refs): Known {
  return {
    projectIdOrName: [refs.project],
    projectId: [refs.project],
    integrationId: [refs.integration],
    integrationIdOrName: [refs.integration],
    installationId: [refs.installation],
    connectionId: [refs.connection],
    operationId: [refs.operation],
    revisionId: [refs.revision],
    apiKeyId: [refs.apiKey],
    keyId: [refs.apiKey],
    jwtKeyId: [refs.jwtKey],
    providerAppId: [refs.providerApp],
    personId: [refs.member],
    invitationId: [refs.invitation],
    connectLinkId: [refs.connectLink],
    destination: [refs.destination],
    destinationId: [refs.destination],
    deliveryId: [refs.delivery],
    messageId: [refs.delivery],
    replayId: [refs.replay],
    erasureId: [refs.erasure],
    topicId: [refs.topic],
    groupRef: [refs.group],
    consumerRef: [`${refs.group}-user`],
  };
}

/** What a browser says of a request that a page of the platform makes. */
const ownPage = { 'sec-fetch-site': 'same-origin' };

function sessionOf(browser: Browser): CallOptions {
  return { key: null, headers: { ...ownPage, cookie: browser.cookie() ?? '' } };
}

async function anotherSession(platform: Platform): Promise<Browser & { sessionId: string }> {
  const browser = openBrowser(platform.base);
  const email = 'owner@example.com';
  const { body } = await browser.call<{ sessionId: string }>('POST', '/session', { email, password });
  return { ...browser, sessionId: body.sessionId };
}

/** The token of an invitation. */
async function invite(platform: Platform, email: string): Promise<string> {
  const path = `/projects/${platform.projectId}/invitations`;
  return tokenOf((await platform.call<{ url: string }>('POST', path, { email, role: 'viewer' })).body.url);
}

async function allowWrites(platform: Platform, { project, integration, installation }: Refs): Promise<void> {
  const contacts = { objectName: 'contacts', deletionSettings: { enabled: true } };
  await platform.call(
    'PATCH',
    `/projects/${project}/integrations/${integration}/installations/${installation}`,
    {
      updateMask: ['config.content.write.objects.contacts'],
      installation: { config: { content: { write: { objects: { contacts } } } } },
    },
  );
}

/** An operation whose outcome is unknown: its answer was lost, and no field tells what it made apart. */
async function lostWrite(platform: Platform, { project, integration, group }: Refs): Promise<string> {
  await fault(platform.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'reset-after' } });
  const path = `/write/v1/projects/${project}/integrations/${integration}/objects/companies`;
  const body = { groupRef: group, type: 'create', record: { name: 'Lost' } };
  return (await platform.call<{ operationId: string }>('POST', path, body)).body.operationId;
}

async function makeDestination(platform: Platform, name: string): Promise<string> {
  const path = `/projects/${platform.projectId}/destinations`;
  const body = { name, type: 'webhook', metadata: { url: 'http://127.0.0.1:9/' } };
  return (await platform.call<{ id: string }>('POST', path, body)).body.id;
}

async function exported(platform: Platform): Promise<unknown> {
  const path = `/projects/${platform.projectId}/exports`;
  return (await platform.call<{ file: object }>('POST', path, { passphrase: password })).body.file;
}
