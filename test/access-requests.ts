import { newId } from '../src/kit/ids.ts';
import type { Refs } from './access-world.ts';

/** An operation of the document, as far as the walk looks into it. */
export interface Operation {
  method: string;
  path: string;
  operationId: string;
  description: string;
  parameters: { name: string; in: string; required?: boolean }[];
  hasBody: boolean;
}

export interface Request {
  method: string;
  path: string;
  body?: unknown;
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        description: string;
        parameters?: Operation['parameters'];
        requestBody?: unknown;
      }
    >
  >;
}

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, description, parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      operationId,
      description,
      parameters,
      hasBody: requestBody !== undefined,
    })),
  );
}

/** Who may call, read from the document: `public`, or the scopes, and whether a caller confined to a group may. */
export function reachOf({ operationId, description }: Operation): {
  scopes: string[] | 'public' | 'signedIn';
  confined: boolean;
} {
  if (description.includes('Needs no credentials.')) return { scopes: 'public', confined: true };
  if (description.includes('Needs the session of a person')) return { scopes: 'signedIn', confined: true };
  const [, list] = /Scopes: ((?:`\w+`(?:, )?)+)\./.exec(description) ?? [];
  if (list === undefined) throw new Error(`the document does not say who may call ${operationId}`);
  return {
    scopes: [...list.matchAll(/\w+/g)].map(([scope]) => scope),
    confined: !description.includes('Not for credentials confined to a group.'),
  };
}

/** What fills a path parameter, by its name, or by operation or collection and name. */
const pathValues: Record<string, (refs: Refs) => string> = {
  projectIdOrName: (refs) => refs.project,
  integrationIdOrName: (refs) => refs.integration,
  integrationId: (refs) => refs.integration,
  'createInstallation/integrationId': (refs) => refs.bare,
  revisionId: (refs) => refs.revision,
  connectionId: (refs) => refs.connection,
  installationId: (refs) => refs.installation,
  operationId: (refs) => refs.operation,
  index: () => '0',
  destination: (refs) => refs.destination,
  deliveryId: (refs) => refs.delivery,
  replayId: (refs) => refs.replay,
  erasureId: (refs) => refs.erasure,
  connectLinkId: (refs) => refs.connectLink,
  topicId: (refs) => refs.topic,
  'notification-event-topic-routes/routeId': (refs) => refs.eventTopicRoute,
  'topic-destination-routes/routeId': (refs) => refs.topicDestinationRoute,
  messageId: (refs) => refs.delivery,
  provider: () => 'hubspot',
  objectName: () => 'contacts',
  personId: (refs) => refs.member,
  invitationId: (refs) => refs.invitation,
  sessionId: (refs) => refs.member,
  apiKeyId: (refs) => refs.apiKey,
  jwtKeyId: (refs) => refs.jwtKey,
  providerAppId: (refs) => refs.providerApp,
};

/** Query parameters that name something; each is sent. */
const queryValues: Record<string, (refs: Refs) => string> = {
  cancelPending: () => 'true',
  groupRef: (refs) => refs.group,
  keyId: (refs) => refs.apiKey,
  targetId: (refs) => refs.connection,
  personId: (refs) => refs.member,
  connectionId: (refs) => refs.connection,
  installationId: (refs) => refs.installation,
  operationId: (refs) => refs.operation,
  index: () => '0',
  destination: (refs) => refs.destination,
  destinationId: (refs) => refs.destination,
  topicId: (refs) => refs.topic,
  projectId: (refs) => refs.project,
  q: (refs) => refs.operation,
};

/** Parameters that name no thing of a project. A new parameter must be listed here or above. */
const plainParameters = new Set(
  `action active code actionType consumerRef destructive dryRun error errorCategory error_description eventType excludeReadOnly
   flow format from healthStatus ifConfigId
   idempotency-key includeBody last-event-id includeCreds includeRefreshToken includeSecrets iss method object pageSize pageToken partlyDone path
   provider range refresh retry-failed returnTo secret since skipSampling state status to type unresolved until`.split(
    /\s+/,
  ),
);

const yaml =
  'specVersion: 1.0.0\nintegrations:\n  - { name: walked, provider: hubspot, proxy: { enabled: true } }\n';
const publicKeyPem = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----';
const contacts = { objectName: 'contacts', selectedFieldMappings: {} };
const readingContacts = {
  provider: 'hubspot',
  read: { objects: { contacts: { ...contacts, selectedFields: { email: true } } } },
};

/** A valid body of each operation that takes one; an operation without a row fails the walk. */
export const bodies: Record<string, (refs: Refs) => unknown> = {
  createProject: () => ({ name: 'walked' }),
  updateProject: () => ({ updateMask: ['appName'], project: { appName: 'walked' } }),
  createApiKey: () => ({ label: 'walked' }),
  updateApiKey: () => ({ updateMask: ['label'], apiKey: { label: 'walked' } }),
  createJWTKey: () => ({ label: 'walked', algorithm: 'RS256', publicKeyPem }),
  updateJWTKey: () => ({ updateMask: ['label'], jwtKey: { label: 'walked' } }),
  createFrontendToken: (refs) => ({ groupRef: refs.group, consumerRef: 'walker' }),
  createConnectLink: (refs) => ({
    integration: refs.integration,
    groupRef: refs.group,
    consumerRef: 'walker',
  }),
  signIn: () => ({ email: 'nobody@example.com', password: 'walked' }),
  lookAtInvitation: () => ({ token: 'w'.repeat(40) }),
  acceptInvitation: () => ({ token: 'w'.repeat(40) }),
  verifySecondFactor: () => ({ code: '000000' }),
  updatePerson: () => ({ name: 'walked' }),
  changePassword: () => ({ currentPassword: 'walked', newPassword: 'walked for a long time' }),
  beginSecondFactor: () => ({ password: 'walked' }),
  confirmSecondFactor: () => ({ code: '000000' }),
  removeSecondFactor: () => ({ password: 'walked' }),
  createInvitation: () => ({ email: 'walked@example.com', role: 'viewer' }),
  updateMember: () => ({ role: 'owner' }),
  openConnectLink: (refs) => ({ link: refs.connectLinkToken, browser: 'b'.repeat(32) }),
  createProviderApp: () => ({ provider: 'salesforce', clientId: 'walked', clientSecret: 'walked' }),
  updateProviderApp: () => ({ updateMask: ['clientId'], providerApp: { clientId: 'walked' } }),
  createIntegration: () => {
    const name = 'walked-too';
    const content = { name, provider: 'hubspot', proxy: { enabled: true } };
    return { name, provider: 'hubspot', latestRevision: { specVersion: '1.0.0', content } };
  },
  batchUpsertIntegrations: () => ({ sourceYaml: yaml }),
  createRevision: () => ({ sourceYaml: yaml.replace('walked', 'hubspot-crm') }),
  oauthConnect: (refs) => ({
    projectIdOrName: refs.project,
    provider: 'hubspot',
    groupRef: refs.group,
    consumerRef: 'ada',
    providerAppId: refs.providerApp,
  }),
  generateConnection: (refs) => ({
    provider: 'hubspot',
    groupRef: refs.group,
    consumerRef: 'walker',
    oauth2AuthorizationCode: { accessToken: { token: 'walked' } },
  }),
  updateConnection: () => ({
    updateMask: ['providerMetadata'],
    connection: { providerMetadata: { walked: { value: 'x', source: 'input' } } },
  }),
  createInstallation: (refs) => ({
    groupRef: refs.group,
    connectionId: refs.connection,
    config: { content: { provider: 'hubspot' } },
  }),
  updateInstallation: (refs) => ({
    updateMask: ['connectionId'],
    installation: { connectionId: refs.connection },
  }),
  patchObjectConfigContent: (refs) => ({
    groupRef: refs.group,
    installationId: refs.installation,
    action: 'write',
    changes: [{ op: 'add', path: '', value: contacts }],
  }),
  createDestination: () => ({
    name: 'walked',
    type: 'webhook',
    metadata: { url: 'https://walked.example.com/' },
  }),
  updateDestination: () => ({
    updateMask: ['metadata.headers'],
    destination: { metadata: { headers: { 'x-walked': 'yes' } } },
  }),
  rotateDestinationSecrets: () => ({ overlapHours: 1 }),
  retryDelivery: () => ({}),
  createErasure: () => ({ groupRef: 'nobody' }),
  exportProject: () => ({ passphrase: 'correct horse battery staple' }),
  importProject: () => ({
    passphrase: 'correct horse battery staple',
    file: {
      format: 'svc-project',
      version: 1,
      project: 'walked',
      createTime: '2026-01-01T00:00:00.000Z',
      moved: false,
      counts: {},
      salt: 'AAAA',
      data: 'AAAA',
    },
  }),
  replayDeliveries: (refs) => ({
    filter: { destination: refs.destination, groupRef: refs.group, object: 'none' },
  }),
  createTopic: () => ({ name: 'walked' }),
  updateTopic: () => ({ name: 'walked-on' }),
  createNotificationEventTopicRoute: (refs) => ({
    eventType: 'connection.deleted',
    topicId: refs.topic,
  }),
  createTopicDestinationRoute: (refs) => ({ topicId: refs.topic, destinationId: refs.destination }),
  setNotifications: (refs) => ({
    routes: [{ eventTypes: ['connection.error'], destination: refs.destination }],
  }),
  resolveOperation: () => ({ resolution: 'notApplied' }),
  retryOperation: () => ({}),
  cancelOperations: (refs) => ({ filter: { installationId: refs.installation, object: 'none' } }),
  retryOperations: (refs) => ({ filter: { installationId: refs.installation, object: 'none' } }),
  readRecords: (refs) => ({ groupRef: refs.group, mode: 'async' }),
  pauseReads: () => ({ note: 'walked' }),
  unpauseReads: () => ({}),
  previewRead: (refs) => ({
    groupRef: refs.group,
    connectionId: refs.connection,
    config: { content: readingContacts },
  }),
  previewWrite: (refs) => ({
    groupRef: refs.group,
    connectionId: refs.connection,
    config: { content: { provider: 'hubspot' } },
    type: 'create',
    record: { email: 'walked@b.c' },
  }),
  searchRecords: () => ({ objectName: 'contacts', fieldFilters: [] }),
  writeRecords: (refs) => ({ groupRef: refs.group, type: 'create', record: { email: 'walked@b.c' } }),
};

/** The operation as a request that names these things. Throws for a parameter or a body that nothing fills. */
export function requestOf(operation: Operation, refs: Refs, body = bodies[operation.operationId]): Request {
  const { method, operationId, parameters, hasBody } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string, at: number) => {
    const collection = operation.path.slice(0, at).split('/').at(-2) ?? '';
    const value =
      pathValues[`${operationId}/${name}`] ?? pathValues[`${collection}/${name}`] ?? pathValues[name];
    if (!value) throw new Error(`nothing fills {${name}} of ${operationId}`);
    return encodeURIComponent(value(refs));
  });
  const query = new URLSearchParams();
  for (const { name, in: place } of parameters.filter((each) => each.in !== 'path')) {
    const value = queryValues[name];
    if (value && place === 'query') query.set(name, value(refs));
    else if (!plainParameters.has(name)) throw new Error(`nothing fills ${name} of ${operationId}`);
  }
  if (hasBody && !body) throw new Error(`${operationId} takes a body, and there is no row for it`);
  return {
    method,
    path: query.size > 0 ? `${path}?${query.toString()}` : path,
    ...(hasBody && body ? { body: body(refs) } : {}),
  };
}

/** Names nothing that exists. */
export function nobody(): Refs {
  return {
    project: newId(),
    integration: newId(),
    bare: newId(),
    revision: newId(),
    member: newId(),
    invitation: newId(),
    apiKey: newId(),
    jwtKey: newId(),
    providerApp: newId(),
    connection: newId(),
    installation: newId(),
    operation: newId(),
    destination: newId(),
    delivery: newId(),
    replay: newId(),
    erasure: newId(),
    connectLink: newId(),
    connectLinkToken: newId(),
    topic: newId(),
    eventTopicRoute: newId(),
    topicDestinationRoute: newId(),
    group: newId(),
  };
}
