import { generateKeyPairSync } from 'node:crypto';
import { bodies } from '../access-requests.ts';
import type { Refs } from '../access-world.ts';
import { manifest } from '../customer.ts';

/** What bodies name that the fuzz's own world made. */
export interface Made {
  refs: Refs;
  /** Of the person whose session is used. */
  address: string;
  password: string;
  /** The tokens of an invitation that stays, and of one that may be accepted. */
  invited: string;
  accepted: string;
  /** An export of the project itself. */
  file: unknown;
}

const contacts = { objectName: 'contacts' };
const content = { provider: 'hubspot', write: { objects: { contacts } } };
const email = 'fuzz@example.com';
/** Of the group that has everything. */
const groupRef = 'default-acme';
const changes = [
  { op: 'add', path: '/selectedFieldSettings', value: { email: { writeOnUpdate: 'never' } } },
  { op: 'replace', path: '/objectName', value: 'contacts' },
  { op: 'remove', path: '/selectedFieldSettings' },
];

const publicKeyPem = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).publicKey;

/** Bodies of the operation that work, the plainest first; chance rarely fits several fields together. */
export function examplesOf(operationId: string, made: Made): unknown[] {
  const walked = bodies[operationId];
  return [
    ...(named[operationId]?.(made) ?? []),
    ...(plain[operationId] ?? []),
    ...(walked ? [walked(made.refs)] : []),
  ];
}

/** Those that name something. */
const named: Readonly<Record<string, (made: Made) => unknown[]>> = {
  signIn: ({ address, password }) => [{ email: address, password }],
  lookAtInvitation: ({ invited }) => [{ token: invited }],
  acceptInvitation: ({ accepted, password }) => [{ token: accepted, password }],
  changePassword: ({ password }) => [{ currentPassword: password, newPassword: password }],
  beginSecondFactor: ({ password }) => [{ password }],
  removeSecondFactor: ({ password }) => [{ password }],
  importProject: ({ file, password }) => [{ passphrase: password, file }],
};

/** Those that name nothing but groups. */
const plain: Readonly<Record<string, readonly unknown[]>> = {
  createJWTKey: [{ label: 'fuzz', algorithm: 'RS256', publicKeyPem }],
  createApiKey: [{ label: 'fuzzed', scopes: ['read', 'write'], groupRef }],
  updateApiKey: [{ updateMask: ['label', 'scopes'], apiKey: { label: 'x', scopes: ['read'] } }],
  createIntegration: [
    {
      name: 'fuzzed',
      provider: 'hubspot',
      latestRevision: {
        specVersion: '1.0.0',
        content: { name: 'fuzzed', provider: 'hubspot', write: { objects: [contacts] } },
      },
    },
  ],
  batchUpsertIntegrations: [{ sourceYaml: manifest }, { sourceYaml: 'specVersion: 1.0.0\nintegrations: [' }],
  createRevision: [{ sourceYaml: manifest }],
  generateConnection: [
    { provider: 'iterable', groupRef, consumerRef: 'ada', apiKey: 'k' },
    {
      provider: 'hubspot',
      groupRef,
      consumerRef: 'ada',
      basicAuth: { username: 'u', password: 'p' },
    },
  ],
  createInstallation: [
    { groupRef: 'others', config: { content } },
    { groupRef, config: { content } },
  ],
  updateInstallation: [
    {
      updateMask: ['config.content.write.objects.contacts'],
      installation: { config: { content: { write: { objects: { contacts } } } } },
    },
  ],
  patchObjectConfigContent: [{ groupRef, action: 'write', changes }],
  resolveOperation: [{ resolution: 'notApplied' }, { records: [{ index: 0, resolution: 'applied' }] }],
  writeRecords: [
    { groupRef, type: 'create', record: { email, firstname: 'Ada' } },
    { groupRef, type: 'create', dryRun: true, record: { email, amount: 1.5 } },
    { groupRef, type: 'update', record: { id: '1', firstname: 'Ada' } },
    { groupRef, type: 'delete', record: { id: '2' } },
    {
      groupRef,
      type: 'create',
      mode: 'asynchronous',
      batch: [{ record: { email }, reference: 'r' }],
    },
    { groupRef, type: 'update', batch: [{ record: { id: '1' } }, { record: { id: '1' } }] },
    {
      groupRef,
      type: 'create',
      mode: 'asynchronous',
      record: { email },
      autoBatchPolicy: { maxDelayMinutes: 1 },
    },
  ],
};
