/** What the states are made of: one company, its accounts, and an integration that uses all that a form can ask. */
import type {
  Connection,
  ConfigContent,
  FieldMetadata,
  HydratedReadObject,
  HydratedRevision,
  Installation,
  Integration,
  ProviderInfo,
  ReadPreview,
  WritePlanned,
} from '@svc/client';
import { hostile } from './hostile.ts';

const createTime = '2026-01-01T00:00:00Z';
const projectId = '00000000-0000-4000-8000-000000000001';
const none = { supported: false };
const support: ProviderInfo['support'] = {
  proxy: true,
  read: true,
  write: true,
  subscribe: false,
  delete: true,
  bulkWrite: { insert: false, update: false, upsert: false, delete: false },
  search: { operators: { equals: true } },
  batchWrite: { create: none, update: none, delete: none, upsert: none },
};

function provider(given: Partial<ProviderInfo>): ProviderInfo {
  return {
    name: 'hubspot',
    displayName: 'HubSpot',
    authType: 'oauth2',
    baseURL: 'https://api.example.com',
    defaultModule: 'root',
    support,
    ...given,
  };
}

const oauth2 = (grantType: 'authorizationCode' | 'clientCredentials' | 'password') =>
  ({
    grantType,
    tokenURL: 'https://api.example.com/token',
    explicitScopesRequired: false,
    explicitWorkspaceRequired: false,
    tokenMetadataFields: {},
    docsURL: 'https://docs.example.com/oauth',
  }) as const;

const docsURL = 'https://docs.example.com/keys';
/** One of each way to sign in. */
export const providers = {
  oauth: provider({ oauth2Opts: oauth2('authorizationCode') }),
  workspace: provider({
    displayName: 'Salesforce',
    name: 'salesforce',
    oauth2Opts: oauth2('authorizationCode'),
    metadata: {
      input: [
        {
          name: 'workspace',
          displayName: 'My Domain',
          prompt: 'The part of the address before .my.salesforce.com.',
          docsURL,
        },
      ],
    },
  }),
  apiKey: provider({
    displayName: 'Keyed',
    authType: 'apiKey',
    apiKeyOpts: { attachmentType: 'header', header: { name: 'X-Key' }, docsURL },
  }),
  basic: provider({ displayName: 'Pairs', authType: 'basic', basicOpts: { docsURL } }),
  clientCredentials: provider({ displayName: 'Machines', oauth2Opts: oauth2('clientCredentials') }),
  password: provider({ displayName: 'Olden', oauth2Opts: oauth2('password') }),
  custom: provider({
    displayName: 'Custom',
    authType: 'custom',
    customOpts: {
      inputs: [
        {
          name: 'account',
          displayName: 'Account',
          prompt: 'Stands at the top of each page.',
          fieldType: 'fieldTypeText',
        },
        {
          name: 'region',
          displayName: 'Region',
          fieldType: 'fieldTypeSelect',
          options: ['Europe', 'United States'],
        },
        { name: 'token', displayName: 'Token', docsURL, fieldType: 'fieldTypePassword' },
      ],
    },
  }),
} as const;

export const integration: Integration = {
  id: '00000000-0000-4000-8000-000000000002',
  projectId,
  name: 'crm',
  provider: 'hubspot',
  createTime,
  updateTime: createTime,
  latestRevision: {
    id: 'r1',
    specVersion: '1.0.0',
    createTime,
    content: { name: 'crm', provider: 'hubspot' },
  },
};

const group = { groupRef: 'acme', groupName: 'Acme', projectId, createTime };
export const connection: Connection = {
  id: 'c1',
  projectId,
  provider: 'hubspot',
  group,
  consumer: { consumerRef: 'ada', consumerName: 'Ada', projectId, createTime },
  createTime,
  authScheme: 'oauth2/authorizationCode',
  status: 'working',
  providerWorkspaceRef: '62515',
};
export const broken: Connection = { ...connection, status: 'bad_credentials' };

const field = (fieldName: string, displayName: string, more: Partial<FieldMetadata> = {}): FieldMetadata => ({
  fieldName,
  displayName,
  valueType: 'string',
  ...more,
});
const byName = (fields: readonly FieldMetadata[]): Record<string, FieldMetadata> =>
  Object.fromEntries(fields.map((one) => [one.fieldName, one]));

const fields = [
  field('email', 'Email'),
  field('firstname', 'First name'),
  field('lastname', 'Last name'),
  field('phone', 'Phone number'),
  field('mobilephone', 'Mobile phone number'),
  field('city', 'City'),
  field('country', 'Country'),
  field('jobtitle', 'Job title'),
  field('newsletter', 'Newsletter', { valueType: 'boolean' }),
  field('employees', 'Number of employees', { valueType: 'int' }),
  field('createdate', 'Created', { valueType: 'datetime', readOnly: true }),
  field('lifecyclestage', 'Lifecycle stage', {
    valueType: 'singleSelect',
    values: [
      { value: 'lead', displayValue: 'Lead' },
      { value: 'opportunity', displayValue: 'Opportunity' },
      { value: 'customer', displayValue: 'Customer' },
      { value: 'evangelist', displayValue: 'Evangelist' },
    ],
  }),
];

/** Contacts with these fields. */
export function contactsOf(all: readonly FieldMetadata[]): HydratedReadObject {
  const [required, ...optional] = all;
  return {
    objectName: 'contacts',
    displayName: 'Contacts',
    destination: 'inbox',
    requiredFields: [
      { fieldName: required?.fieldName ?? '', displayName: required?.displayName ?? '' },
      {
        mapToName: 'nickname',
        mapToDisplayName: 'Nickname',
        prompt: 'Which field holds what you call the person?',
      },
    ],
    optionalFields: [
      { mapToName: 'phone', mapToDisplayName: 'Phone' },
      ...optional.map(({ fieldName, displayName }) => ({ fieldName, displayName })),
    ],
    optionalFieldsAuto: 'all',
    allFieldsMetadata: byName(all),
  };
}

export function revisionOf(contacts: HydratedReadObject): HydratedRevision {
  const companies: HydratedReadObject = {
    objectName: 'companies',
    displayName: 'Companies',
    destination: 'inbox',
    requiredFields: [{ fieldName: 'name', displayName: 'Name' }],
    allFieldsMetadata: byName([field('name', 'Name'), field('domain', 'Domain')]),
  };
  return {
    id: 'r1',
    specVersion: '1.0.0',
    createTime,
    content: {
      name: 'crm',
      displayName: 'Mailmonkey for HubSpot',
      provider: 'hubspot',
      read: { objects: [contacts, companies] },
      write: {
        objects: [
          { objectName: 'contacts', displayName: 'Contacts', inheritMapping: true },
          { objectName: 'companies', displayName: 'Companies' },
        ],
      },
    },
  };
}

export const contacts: HydratedReadObject = contactsOf(fields);
export const revision: HydratedRevision = revisionOf(contacts);

/** As many as a large account has. */
export const manyFields: FieldMetadata[] = [
  ...fields,
  ...Array.from({ length: 5_000 }, (_each, index) => field(`custom_${index}`, `Custom field ${index}`)),
];

export const hostileFields: FieldMetadata[] = [
  ...hostile.map((text) => field(text, text)),
  field('choice', hostile[0] ?? '', {
    valueType: 'singleSelect',
    values: hostile.map((text) => ({ value: text, displayValue: text })),
  }),
];

export const content: ConfigContent = {
  provider: 'hubspot',
  read: {
    objects: {
      contacts: {
        objectName: 'contacts',
        selectedFields: { city: true, country: true },
        selectedFieldMappings: { nickname: 'firstname', phone: 'phone' },
      },
      companies: { objectName: 'companies' },
    },
  },
  write: {
    objects: {
      contacts: { objectName: 'contacts', deletionSettings: { enabled: true } },
      companies: { objectName: 'companies' },
    },
  },
};

/** What is installed, with this config. */
export function installationOf(of: ConfigContent = content, configId = 'g1'): Installation {
  return {
    id: 'i1',
    projectId,
    integrationId: integration.id,
    group,
    healthStatus: 'healthy',
    createTime,
    createdBy: 'consumer:ada',
    connection,
    config: { id: configId, revisionId: 'r1', createTime, createdBy: 'consumer:ada', content: of },
  };
}

/** A record as it would be delivered, and a write as it would be sent. */
export const delivered: ReadPreview = {
  objectName: 'contacts',
  rawObjectName: 'contacts',
  recordId: '512',
  result: [
    {
      fields: { email: 'ada@example.com', city: '', country: 'United Kingdom' },
      mappedFields: { nickname: 'Ada', stage: 'won' },
      raw: { id: '512' },
    },
  ],
  missingFields: ['fax'],
};
export const sent: WritePlanned = {
  plan: {
    records: [{ fields: { email: 'ada@example.com', firstname: 'Ada', city: 'Bern' }, ifEmpty: ['city'] }],
    calls: [{ method: 'POST', path: '/crm/v3/objects/contacts' }],
  },
};
