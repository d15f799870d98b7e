import { Type } from 'typebox';
import {
  configBlock,
  connectionBlock,
  eventKind,
  installationBlock,
  lastConfigBlock,
  operationBlock,
  rangeBlock,
  samples,
} from './event-kind-schema.ts';

const { connection, installation, operation, range, destination } = samples;
const { url: _url, ...unreached } = destination;

const ofConnection = Type.Object(connectionBlock);
const ofInstallation = Type.Object({ ...installationBlock, ...configBlock });
const ofObject = { ...installationBlock, ...operationBlock, ...configBlock };
const error = Type.String({ description: 'What failed, in a sentence.' });

/** The customer, as the builder knows it. */
function customer({ groupRef, groupName }: { groupRef: string; groupName?: string }): string {
  return groupName ?? groupRef;
}

const connections = {
  'connection.created': eventKind({
    when: 'A customer connected an account.',
    data: ofConnection,
    sample: connection,
    sentence: ({ groupRef, provider }) => `${groupRef} connected an account at ${provider}.`,
  }),
  'connection.refreshed': eventKind({
    when: 'The credentials of a connection were renewed by themselves.',
    data: ofConnection,
    sample: connection,
    sentence: ({ groupRef, provider }) => `The credentials of ${groupRef} at ${provider} were renewed.`,
  }),
  'connection.updated': eventKind({
    when: 'A connection got new credentials, or what is known of its account was changed.',
    data: ofConnection,
    sample: connection,
    sentence: ({ groupRef, provider }) => `${groupRef} changed its connection to ${provider}.`,
  }),
  'connection.deleted': eventKind({
    when: 'A connection was deleted.',
    data: ofConnection,
    sample: connection,
    sentence: ({ groupRef, provider }) => `${groupRef} disconnected its account at ${provider}.`,
  }),
  'connection.error': eventKind({
    when: 'The provider does not accept the credentials of a connection any more: the customer has to connect again.',
    data: Type.Object({
      ...connectionBlock,
      errors: Type.Array(Type.String()),
      error: Type.Array(Type.String(), { deprecated: true, description: 'The same as `errors`.' }),
    }),
    sample: {
      ...connection,
      errors: ['The refresh token was revoked.'],
      error: ['The refresh token was revoked.'],
    },
    sentence: ({ groupRef, provider, errors }) =>
      `The connection of ${groupRef} to ${provider} does not work any more: ${errors.join(' ')}`,
  }),
};

const installations = {
  'installation.created': eventKind({
    when: 'A customer installed an integration.',
    data: ofInstallation,
    sample: { ...installation, config: samples.config },
    sentence: (data) => `${customer(data)} installed ${data.integrationName}.`,
  }),
  'installation.updated': eventKind({
    when: 'The config or the connection of an installation was changed.',
    data: Type.Object({ ...installationBlock, ...configBlock, ...lastConfigBlock }),
    sample: { ...installation, config: samples.config, lastConfig: { provider: 'hubspot' } },
    sentence: (data) => `${customer(data)} changed its installation of ${data.integrationName}.`,
  }),
  'installation.deleted': eventKind({
    when: 'An installation was deleted.',
    data: ofInstallation,
    sample: { ...installation, config: samples.config },
    sentence: (data) => `${customer(data)} uninstalled ${data.integrationName}.`,
  }),
};

const ofRead = { ...installation, ...operation, config: samples.config };
const away = 'The provider answered 503; nothing succeeded for a day.';

const reads = {
  'read.backfill.done': eventKind({
    when: 'The history of an object was read; its messages may still be on their way.',
    data: Type.Object(ofObject),
    sample: ofRead,
    sentence: (data) => `[${data.objectName}] The history of ${customer(data)} was read.`,
  }),
  'read.backfill.error': eventKind({
    when: 'The history of an object could not be read.',
    data: Type.Object({ ...ofObject, error }),
    sample: { ...ofRead, error: `[contacts] ${away}` },
    sentence: (data) => `The history of ${customer(data)} could not be read: ${data.error}`,
  }),
  'read.schedule.paused': eventKind({
    when: 'Scheduled reads of an object failed too often one after the other: it is not read until it is unpaused.',
    data: Type.Object({ ...ofObject, error }),
    sample: { ...ofRead, error: `[contacts] ${away}` },
    sentence: (data) =>
      `[${data.objectName}] The scheduled reads of ${customer(data)} are paused: ${data.error}`,
  }),
  'read.triggered.done': eventKind({
    when: 'A read that was asked for is done; its messages may still be on their way.',
    data: Type.Object({ ...ofObject, ...rangeBlock }),
    sample: { ...ofRead, ...range },
    sentence: (data) => `[${data.objectName}] The read of ${customer(data)} that was asked for is done.`,
  }),
  'read.triggered.error': eventKind({
    when: 'A read that was asked for failed.',
    data: Type.Object({ ...ofObject, ...rangeBlock, error }),
    sample: { ...ofRead, ...range, error: `[contacts] ${away}` },
    sentence: (data) => `A read of ${customer(data)} that was asked for failed: ${data.error}`,
  }),
  'read.waiting': eventKind({
    when: 'A read cannot go on until somebody acts: its destination is missing or disabled, or the account must be connected again. Told once for each cause.',
    data: Type.Object({ ...ofObject, ...Type.Partial(Type.Object(rangeBlock)).properties, error }),
    sample: { ...ofRead, error: 'there is no destination inbox' },
    sentence: (data) => `[${data.objectName}] A read of ${customer(data)} waits: ${data.error}`,
  }),
};

const Failure = Type.Object({
  category: Type.String(),
  retryable: Type.Boolean(),
  message: Type.String(),
  provider: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  existingRecordId: Type.Optional(Type.String()),
});

const RecordResult = Type.Object({
  index: Type.Integer({ description: "The record's place in the request, from 0." }),
  reference: Type.Optional(Type.String()),
  success: Type.Boolean(),
  recordId: Type.Optional(Type.String()),
  errors: Type.Optional(Type.Array(Failure)),
});

const writes = {
  'write.async.done': eventKind({
    when: 'An asynchronous write has ended: a single one, a batch, or an automatic batch.',
    data: Type.Object({
      ...installationBlock,
      ...operationBlock,
      success: Type.Boolean({ description: 'Whether every record was written.' }),
      successfulRecordIds: Type.Array(Type.String()),
      errors: Type.Array(Type.String()),
      results: Type.Optional(
        Type.Array(RecordResult, {
          description:
            'In the order of the request. Left out where they take 200,000 bytes or more: `GET …/operations/{operationId}/records` has them.',
        }),
      ),
    }),
    sample: {
      ...installation,
      ...operation,
      success: false,
      successfulRecordIds: ['512'],
      errors: ['validation: Property values were not valid'],
      results: [
        { index: 0, reference: 'row-1', success: true, recordId: '512' },
        {
          index: 1,
          reference: 'row-2',
          success: false,
          errors: [
            {
              category: 'validation',
              retryable: false,
              message: 'Property values were not valid',
              provider: { status: 400, code: 'VALIDATION_ERROR', message: 'Property values were not valid' },
            },
          ],
        },
      ],
    },
    sentence(data) {
      const written = data.successfulRecordIds.length;
      const failed = data.errors.length;
      const outcome =
        failed === 0 ? `${written} written.` : `${written} written, ${failed} failed: ${data.errors[0]}`;
      return `[${data.objectName}] A write of ${customer(data)} ended: ${outcome}`;
    },
  }),
};

const destinations = {
  'destination.webhook.disabled': eventKind({
    when: 'A destination, of whatever type, was disabled because nothing arrived there for days, or because it asked for it. What is to be delivered there waits.',
    data: Type.Object({
      projectId: Type.String(),
      destinationId: Type.String(),
      destinationName: Type.String(),
      url: Type.Optional(Type.String()),
      reason: Type.String(),
    }),
    sample: { ...destination, reason: 'Nothing succeeded for five days.' },
    sentence: ({ destinationName, reason }) =>
      `The destination ${destinationName} was disabled: ${reason} What is to be delivered there waits.`,
  }),
  'destination.deliveries.failed': eventKind({
    when: 'Deliveries to a destination ran out of attempts. Told within a minute, once for all of them.',
    data: Type.Object({
      projectId: Type.String(),
      destinationId: Type.String(),
      destinationName: Type.String(),
      count: Type.Integer({ description: 'How many, since the last event of this kind.' }),
      since: Type.String({ format: 'date-time', description: 'When the first of them did.' }),
    }),
    sample: { ...unreached, count: 12, since: samples.range.untilTimestamp },
    sentence: ({ destinationName, count }) =>
      `${count} ${count === 1 ? 'delivery' : 'deliveries'} to the destination ${destinationName} failed for good.`,
  }),
};

/** Every event, in the order of the documents. */
export const eventKinds = { ...connections, ...installations, ...reads, ...writes, ...destinations };

export type EventType = keyof typeof eventKinds;
export const eventTypes = Object.keys(eventKinds) as EventType[];

/** What happened, for people: one sentence without markup. */
export function sentenceOf(type: EventType, data: unknown): string {
  const kind = eventKinds[type] as { sentence(data: unknown): string };
  return kind.sentence(data);
}
