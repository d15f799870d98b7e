import { Branding, connectingExamples } from './api-connecting-examples.ts';
import { deployExamples } from './api-deploy-examples.ts';
import { peopleExamples } from './api-people-examples.ts';
import { lookingExamples } from './api-looking-examples.ts';
import { readingExamples } from './api-reading-examples.ts';
import { transferExamples } from './api-transfer-examples.ts';
import {
  at,
  projectId,
  integrationId,
  connectionId,
  installationId,
  operationId,
  requestId,
  revisionId,
  configId,
  keyId,
  made,
} from './api-story.ts';

/** What the operations are about, in the order in which one meets them. */
export const apiTags: readonly { name: string; description: string }[] = [
  { name: 'projects', description: 'What everything else belongs to, and who changed it.' },
  { name: 'people', description: 'Who signs in with a browser, and what they may do.' },
  { name: 'api keys', description: 'What a builder’s servers call with.' },
  { name: 'jwt keys', description: 'What checks the tokens of end users’ browsers.' },
  { name: 'connect links', description: 'Pages of this service where a person connects and installs.' },
  { name: 'providers', description: 'The catalogue of what can be connected.' },
  { name: 'provider apps', description: 'The builder’s OAuth clients at the providers.' },
  { name: 'integrations', description: 'What a manifest says is read and written.' },
  { name: 'connections', description: 'The accounts of the builder’s customers.' },
  { name: 'object metadata', description: 'The objects and fields of a customer’s account.' },
  { name: 'installations', description: 'An integration as one customer has it.' },
  { name: 'write', description: 'Create, update and delete records.' },
  {
    name: 'read',
    description: 'Records that changed, delivered to a destination, and records by their values.',
  },
  { name: 'destinations', description: 'Where messages are delivered.' },
  { name: 'deliveries', description: 'What became of messages.' },
  { name: 'notifications', description: 'Which events are told, and where.' },
  { name: 'operations', description: 'What became of writes and reads.' },
  { name: 'proxy', description: 'The calls that went through to a provider as they were.' },
];

/** One example of each thing that the API takes or gives, by the name of its schema; together they tell one story. */

const publicKeyPem =
  '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n…\n-----END PUBLIC KEY-----\n';
const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    write:
      objects:
        - objectName: contacts
`;

const Project = {
  id: projectId,
  name: 'mailmonkey',
  appName: 'MailMonkey',
  allowedOrigins: [],
  branding: Branding,
  keepDays: { messages: 7 },
  orgId: 'default',
  ...made,
};
const ApiKey = { id: keyId, label: 'backend', scopes: ['write'], projectId, active: true, ...made };
const JwtKey = {
  id: '0192f0c1-0009-7000-8000-000000000009',
  projectId,
  label: 'browser',
  algorithm: 'RSA',
  publicKeyPem,
  active: true,
  ...made,
};
const ProviderApp = {
  id: '0192f0c1-000a-7000-8000-00000000000a',
  projectId,
  provider: 'hubspot',
  clientId: '8d4f2c1e-client',
  scopes: ['crm.objects.contacts.write', 'oauth'],
  isDefault: true,
  ...made,
};
const content = {
  name: 'hubspot-crm',
  provider: 'hubspot',
  write: { objects: [{ objectName: 'contacts' }] },
};
const Revision = { id: revisionId, specVersion: '1.0.0', createTime: at, content };
const Integration = {
  id: integrationId,
  projectId,
  name: 'hubspot-crm',
  provider: 'hubspot',
  ...made,
  latestRevision: Revision,
};
const issue = {
  severity: 'warning',
  rule: 'no-effect-yet',
  path: 'integrations[0].subscribe',
  message: 'This does nothing yet.',
  line: 6,
  column: 5,
};

const group = { groupRef: 'acme', groupName: 'Acme Inc.', projectId, createTime: at };
const consumer = { consumerRef: 'ada', consumerName: 'Ada Lovelace', projectId, createTime: at };
const Connection = {
  id: connectionId,
  projectId,
  provider: 'hubspot',
  providerApp: ProviderApp,
  group,
  consumer,
  ...made,
  authScheme: 'oauth2/authorizationCode',
  status: 'working',
};
const contacts = {
  objectName: 'contacts',
  selectedFieldSettings: { lifecyclestage: { writeOnUpdate: 'never' } },
};
const configured = { provider: 'hubspot', write: { objects: { contacts } } };
const Config = { id: configId, revisionId, createTime: at, createdBy: 'consumer:ada', content: configured };
const Installation = {
  id: installationId,
  projectId,
  integrationId,
  group,
  healthStatus: 'healthy',
  lastOperationStatus: 'success',
  connection: Connection,
  createTime: at,
  createdBy: 'consumer:ada',
  config: Config,
};

const email = {
  fieldName: 'email',
  displayName: 'Email',
  valueType: 'string',
  providerType: 'string',
  readOnly: false,
  isCustom: false,
};
const Operation = {
  id: operationId,
  projectId,
  integrationId,
  installationId,
  configId,
  actionType: 'write',
  status: 'success',
  result: '[contacts] 1 of 1 records written.',
  resource: 'contacts',
  metadata: { objects: ['contacts'], retry: { attempts: 1, lastAttempt: at }, successfulRecordIds: ['512'] },
  errors: [],
  counts: { total: 1, succeeded: 1, failed: 0, unknown: 0 },
  ...made,
};
const OperationRecord = { index: 0, recordId: '512', success: true, errors: [], resolution: 'applied' };

const ada = { email: 'ada@example.com', firstname: 'Ada' };
const refusal = {
  message: 'error writing contacts: validation: Property values were not valid',
  category: 'validation',
  retryable: false,
  provider: { status: 400, code: 'VALIDATION_ERROR', message: 'Property values were not valid' },
};
const Problem = {
  type: 'urn:svc:problem:not-found',
  code: 'not-found',
  title: 'Not found',
  status: 404,
  detail: 'There is no group acme for these credentials.',
  remedy: 'Check the id or the name, and that the credentials reach it.',
  requestId,
  retryable: false,
  time: at,
};

const batchable = { supported: true, defaultRecordLimit: 100 };
const ProviderInfo = {
  name: 'hubspot',
  displayName: 'HubSpot',
  authType: 'oauth2',
  baseURL: 'https://api.hubapi.com',
  defaultModule: 'crm',
  oauth2Opts: {
    grantType: 'authorizationCode',
    authURL: 'https://app.hubspot.com/oauth/authorize',
    tokenURL: 'https://api.hubapi.com/oauth/v1/token',
    explicitScopesRequired: true,
    explicitWorkspaceRequired: false,
    tokenMetadataFields: {},
  },
  support: {
    proxy: true,
    read: false,
    write: true,
    subscribe: false,
    delete: true,
    bulkWrite: { insert: false, update: false, upsert: false, delete: false },
    search: { operators: { equals: false } },
    batchWrite: {
      create: batchable,
      update: batchable,
      delete: { supported: false },
      upsert: { supported: false },
    },
  },
};

export const apiExamples: Readonly<Record<string, unknown>> = {
  Problem,
  Pagination: { done: true },

  CreateProjectRequest: { name: 'mailmonkey', appName: 'MailMonkey' },
  UpdateProjectRequest: { updateMask: ['appName'], project: { appName: 'MailMonkey' } },
  Project,
  CreatedProject: {
    ...Project,
    apiKey: { ...ApiKey, key: `svc_${keyId}_…`, label: 'first key', scopes: ['full'] },
  },
  CreateApiKeyRequest: { label: 'backend', scopes: ['write'] },
  UpdateApiKeyRequest: { updateMask: ['label'], apiKey: { label: 'backend of staging' } },
  ApiKey,
  CreateJwtKeyRequest: { label: 'browser', algorithm: 'RS256', publicKeyPem },
  UpdateJwtKeyRequest: { updateMask: ['active'], jwtKey: { active: false } },
  CreatedJwtKey: { kid: JwtKey.id },
  JwtKey,
  CreateProviderAppRequest: {
    provider: 'hubspot',
    clientId: '8d4f2c1e-client',
    clientSecret: 'from the provider',
    scopes: ProviderApp.scopes,
  },
  UpdateProviderAppRequest: { updateMask: ['scopes'], providerApp: { scopes: ['oauth'] } },
  ProviderApp,
  CreateIntegrationRequest: {
    name: 'hubspot-crm',
    provider: 'hubspot',
    latestRevision: { specVersion: '1.0.0', content },
  },
  ManifestSource: { sourceYaml: manifest },
  ManifestText: manifest,
  Integration,
  DeployedIntegration: Integration,
  ...deployExamples,
  RevisionWarnings: { warnings: [issue] },
  ProviderInfo,
  ProviderCatalogue: { hubspot: ProviderInfo },

  OAuthConnectRequest: {
    projectIdOrName: 'mailmonkey',
    provider: 'hubspot',
    groupRef: 'acme',
    groupName: 'Acme Inc.',
    consumerRef: 'ada',
    consumerName: 'Ada Lovelace',
  },
  ConnectUrl: 'https://svc.example.com/callbacks/v1/oauth/start?flow=…',
  BrowserPage: '<!doctype html><title>Connected</title>',
  ConnectionRequest: {
    provider: 'iterable',
    groupRef: 'acme',
    consumerRef: 'ada',
    apiKey: 'from the provider',
  },
  UpdateConnectionRequest: { updateMask: ['groupName'], connection: { groupName: 'Acme' } },
  Connection,

  CreateInstallationRequest: { groupRef: 'acme', connectionId, config: { content: configured } },
  UpdateInstallationRequest: {
    updateMask: ['config.content.write.objects.contacts'],
    installation: { config: { content: { write: { objects: { contacts } } } } },
  },
  PatchObjectConfigContentRequest: {
    groupRef: 'acme',
    action: 'write',
    changes: [
      { op: 'add', path: '/selectedFieldSettings/lifecyclestage', value: { writeOnUpdate: 'never' } },
    ],
  },
  Installation,
  ObjectMetadata: { name: 'contacts', displayName: 'Contacts', fields: { email } },
  Config,
  Revision,
  HydratedRevision: {
    id: revisionId,
    specVersion: '1.0.0',
    createTime: at,
    content: {
      name: 'hubspot-crm',
      provider: 'hubspot',
      write: { objects: [{ objectName: 'contacts', displayName: 'Contacts' }] },
    },
  },

  Operation,
  OperationLog: {
    timestamp: at,
    severity: 'info',
    message: { msg: 'The provider was called.', operation_id: operationId, details: { status: '201' } },
  },
  OperationRecord,
  WrittenRecord: { ...OperationRecord, content: { fields: ada } },
  ResolveOperationRequest: { records: [{ index: 0, resolution: 'applied', recordId: '512' }] },
  ResolvedRecords: { records: [{ ...OperationRecord, resolvedBy: `apiKey:${keyId}`, resolvedAt: at }] },
  RetryOperationRequest: { retryPolicy: { deadlineHours: 2 } },
  RetryOperationsRequest: { filter: { errorCategory: 'providerDown', object: 'contacts' }, dryRun: false },
  CancelOperationsRequest: { filter: { groupRef: 'acme', object: 'contacts' }, dryRun: false },
  CanceledOperations: { results: [{ operationId }], pagination: { done: true }, canceled: 1, refused: 0 },
  RetriedOperations: {
    results: [{ operationId, retriedBy: requestId }],
    pagination: { done: true },
    retried: 1,
    before: 0,
    refused: 0,
  },
  ...readingExamples,
  ...peopleExamples,
  ...connectingExamples,
  ...lookingExamples,
  ...transferExamples,
  AuditEntry: {
    id: requestId,
    time: at,
    action: 'integration.created',
    target: { type: 'integration', id: integrationId },
    actor: { kind: 'apiKey', keyId },
    address: '203.0.113.7',
    requestId,
  },
  AuditTable: `id,time,action,targetType,targetId,actorKind,keyId,groupRef,consumerRef,personId,email,address,requestId,details\r\n"${requestId}","${at}","integration.created","integration","${integrationId}","apiKey","${keyId}","","","","","203.0.113.7","${requestId}",""\r\n`,
  Event: {
    id: requestId,
    type: 'connection.created',
    connectionId,
    createTime: at,
    data: { provider: 'hubspot', groupRef: 'acme', consumerRef: 'ada' },
  },
  ProxyLogEntry: {
    requestId,
    time: at,
    integrationId,
    installationId,
    connectionId,
    groupRef: 'acme',
    provider: 'hubspot',
    method: 'GET',
    path: '/crm/v3/objects/contacts?limit',
    status: 200,
    providerMs: 84,
    totalMs: 87,
  },

  WriteRequest: { groupRef: 'acme', type: 'create', record: ada },
  RecordWritten: { operationId, result: { success: true, recordId: '512', data: { id: '512', ...ada } } },
  BatchWritten: {
    operationId,
    successCount: 1,
    failureCount: 1,
    results: [
      { success: true, recordId: '512', data: { id: '512', ...ada } },
      { success: false, errors: [refusal] },
    ],
    errors: [refusal],
  },
  WriteAccepted: { operationId },
  WritePlanned: {
    plan: {
      records: [{ fields: ada }],
      calls: [{ method: 'POST', path: '/crm/v3/objects/contacts', body: { properties: ada } }],
    },
  },
  RecordRefused: {
    operationId,
    errors: [refusal],
    result: { success: false },
    rawResponse: 'Property values were not valid',
  },
  WriteProblem: { ...Problem, errors: [{ message: Problem.detail }] },
};
