import type { DeclaredKind, DestinationKind, OutgoingMessage } from '../kind.ts';
import { fill, topicOf } from '../template.ts';
import { checkS3 } from './check.ts';
import { outcomeOf } from './failure.ts';
import { endpointOf, putObject } from './put.ts';
import { defaultKeyTemplate, S3Metadata, S3Secrets } from './schema.ts';

interface S3Options {
  /** For one attempt in total. */
  timeoutMs?: number;
}

const shape = { type: 's3', metadata: S3Metadata, secrets: S3Secrets };
const longestKey = 1_024;
/** All that is told beside an object has 2 KiB. */
const longestValue = 200;

export const s3: DeclaredKind = { ...shape, create: () => createS3() };

/** An object for each message, in a bucket of Amazon S3 or of a store that speaks the same. */
export function createS3({ timeoutMs = 30_000 }: S3Options = {}): DestinationKind<S3Metadata, S3Secrets> {
  return {
    ...shape,
    check: checkS3,
    shareOf: (metadata) => new URL(endpointOf(metadata)).origin,
    async deliver(message, { id, metadata, secrets }, context) {
      if (context.signal.aborted || !context.mayStillSend()) return { kind: 'unsent' };
      const template = metadata.keyTemplate ?? defaultKeyTemplate;
      const key = fill(template, message, inKey);
      if (Buffer.byteLength(key) > longestKey) {
        const error = `The key of the object would have more than ${longestKey} bytes: shorten metadata.keyTemplate.`;
        return { kind: 'failed', error };
      }
      const store = { metadata, secrets };
      const object = { key, body: await message.body(), about: aboutOf(message, id) };
      return outcomeOf(await putObject(store, object, context, timeoutMs), store, timeoutMs);
    },
  };
}

/** A value is one part of a key, whoever chose it: no slash, and not dots alone. */
function inKey(value: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

function aboutOf(message: OutgoingMessage, destinationId: string): Record<string, string> {
  const { id, createdAt, projectId, installationId, groupRef, object, replay } = message;
  const about = {
    'event-id': id,
    timestamp: createdAt.toISOString(),
    topic: topicOf(message),
    projectId,
    destinationId,
    installationId,
    groupRef,
    objectName: object,
    ...(replay ? { replay: 'true' } : {}),
  };
  return Object.fromEntries(
    Object.entries(about)
      .map(([name, value]) => [name, encodeURIComponent(value.toWellFormed())] as const)
      .filter(([, value]) => value !== '' && value.length <= longestValue),
  );
}
