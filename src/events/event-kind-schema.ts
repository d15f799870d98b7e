import { Type, type Static, type TObject, type TProperties } from 'typebox';

/** One sort of event: what it tells, and how a person would say it. */
export interface EventKind<Data extends TObject = TObject> {
  /** When it happens, for the documents. */
  when: string;
  /** `data` on the wire. Members are added to it, and never taken away. */
  data: Data;
  sample: Static<Data>;
  /** For a channel that people read. */
  sentence(data: Static<Data>): string;
}

/** Infers the data of a kind from its schema. */
export function eventKind<Properties extends TProperties>(
  kind: EventKind<TObject<Properties>>,
): EventKind<TObject<Properties>> {
  return kind;
}

const text = Type.String();
const optionalText = Type.Optional(Type.String());
const time = Type.String({ format: 'date-time' });

/** What an event tells of a connection. */
export const connectionBlock = {
  projectId: text,
  connectionId: text,
  provider: text,
  groupRef: text,
  consumerRef: text,
  consumerName: optionalText,
};

/** What an event tells of an installation; the connection and its consumer are left out once they are gone. */
export const installationBlock = {
  projectId: text,
  provider: text,
  integrationId: text,
  integrationName: text,
  installationId: text,
  connectionId: optionalText,
  groupRef: text,
  groupName: optionalText,
  consumerRef: optionalText,
  consumerName: optionalText,
};

export const operationBlock = { objectName: text, operationId: text };
export const rangeBlock = { fromTimestamp: Type.Optional(time), untilTimestamp: time };
const config = Type.Record(Type.String(), Type.Unknown());
const configURL = Type.String({
  description:
    'In its place where it is larger than 100,000 bytes: `listConfigs`, the newest first, for a key that may read. It is gone with the installation.',
});
/** The config of an installation, as it was saved. */
export const configBlock = { config: Type.Optional(config), configURL: Type.Optional(configURL) };
/** And the one before. */
export const lastConfigBlock = { lastConfig: Type.Optional(config), lastConfigURL: Type.Optional(configURL) };

const ids = {
  project: '0192f0c1-0001-7000-8000-000000000001',
  integration: '0192f0c1-0002-7000-8000-000000000002',
  connection: '0192f0c1-0003-7000-8000-000000000003',
  installation: '0192f0c1-0004-7000-8000-000000000004',
  operation: '0192f0c1-0005-7000-8000-000000000005',
  destination: '0192f0c1-000b-7000-8000-00000000000b',
};

/** One story, as the examples of the API tell it. */
export const samples = {
  connection: {
    projectId: ids.project,
    connectionId: ids.connection,
    provider: 'hubspot',
    groupRef: 'acme',
    consumerRef: 'ada',
    consumerName: 'Ada Lovelace',
  },
  installation: {
    projectId: ids.project,
    provider: 'hubspot',
    integrationId: ids.integration,
    integrationName: 'hubspot-crm',
    installationId: ids.installation,
    connectionId: ids.connection,
    groupRef: 'acme',
    groupName: 'Acme Inc.',
    consumerRef: 'ada',
    consumerName: 'Ada Lovelace',
  },
  config: { provider: 'hubspot', write: { objects: { contacts: { objectName: 'contacts' } } } },
  operation: { objectName: 'contacts', operationId: ids.operation },
  range: { fromTimestamp: '2026-01-14T00:00:00.000Z', untilTimestamp: '2026-01-15T09:30:00.000Z' },
  destination: {
    projectId: ids.project,
    destinationId: ids.destination,
    destinationName: 'inbox',
    url: 'https://mailmonkey.example.com/webhooks/svc',
  },
};
