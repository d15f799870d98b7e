import { manifest } from '../customer.ts';

const contacts = { objectName: 'contacts' };
const content = { provider: 'hubspot', write: { objects: { contacts } } };
const email = 'fuzz@example.com';
const changes = [
  { op: 'add', path: '/selectedFieldSettings', value: { email: { writeOnUpdate: 'never' } } },
  { op: 'replace', path: '/objectName', value: 'contacts' },
  { op: 'remove', path: '/selectedFieldSettings' },
];

/** Working bodies by operation, besides the document's examples; chance rarely fits several fields together. */
export const examples: Readonly<Record<string, readonly unknown[]>> = {
  createApiKey: [{ label: 'fuzzed', scopes: ['read', 'write'], groupRef: 'acme' }],
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
    { provider: 'iterable', groupRef: 'acme', consumerRef: 'ada', apiKey: 'k' },
    {
      provider: 'hubspot',
      groupRef: 'acme',
      consumerRef: 'ada',
      basicAuth: { username: 'u', password: 'p' },
    },
  ],
  updateConnection: [{ updateMask: ['groupName'], connection: { groupName: 'Acme' } }],
  createInstallation: [
    { groupRef: 'acme', config: { content } },
    { groupRef: 'others', config: { content } },
  ],
  updateInstallation: [
    {
      updateMask: ['config.content.write.objects.contacts'],
      installation: { config: { content: { write: { objects: { contacts } } } } },
    },
  ],
  patchObjectConfigContent: [{ groupRef: 'acme', action: 'write', changes }],
  resolveOperation: [{ resolution: 'notApplied' }, { records: [{ index: 0, resolution: 'applied' }] }],
  writeRecords: [
    { groupRef: 'acme', type: 'create', record: { email, firstname: 'Ada' } },
    { groupRef: 'acme', type: 'create', dryRun: true, record: { email, amount: 1.5 } },
    { groupRef: 'acme', type: 'update', record: { id: '1', firstname: 'Ada' } },
    { groupRef: 'acme', type: 'delete', record: { id: '2' } },
    {
      groupRef: 'acme',
      type: 'create',
      mode: 'asynchronous',
      batch: [{ record: { email }, reference: 'r' }],
    },
    { groupRef: 'acme', type: 'update', batch: [{ record: { id: '1' } }, { record: { id: '1' } }] },
    {
      groupRef: 'acme',
      type: 'create',
      mode: 'asynchronous',
      record: { email },
      autoBatchPolicy: { maxDelayMinutes: 1 },
    },
  ],
};
