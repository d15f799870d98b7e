import type {
  DeclaredKind,
  Delivered,
  DeliveryContext,
  DestinationKind,
  OpenDestination,
  OutgoingMessage,
} from '../kind.ts';
import { fill, topicOf } from '../template.ts';
import { checkAmqp, longestName, placeOf } from './check.ts';
import { failureOf, TimeIsOver } from './failure.ts';
import { AmqpMetadata, AmqpSecrets, defaultRoutingKey } from './schema.ts';
import type { Publication, Session } from './session.ts';
import { Sessions } from './sessions.ts';
import type { Access } from './wire.ts';

interface AmqpOptions {
  /** For one message, from the connection to the confirmation. */
  timeoutMs?: number;
}

type Destination = OpenDestination<AmqpMetadata, AmqpSecrets>;

const shape = { type: 'amqp', metadata: AmqpMetadata, secrets: AmqpSecrets };
const persistent = 2;

export const amqp: DeclaredKind = { ...shape, create: () => createAmqp() };

/** Publishes each message to an exchange of a broker such as RabbitMQ, which confirms it. */
export function createAmqp({ timeoutMs = 30_000 }: AmqpOptions = {}): DestinationKind<
  AmqpMetadata,
  AmqpSecrets
> {
  const sessions = new Sessions(timeoutMs);
  return {
    ...shape,
    check: checkAmqp,
    shareOf({ url }) {
      const place = placeOf(url);
      return 'fault' in place ? url : `${place.host}:${place.port}`;
    },
    deliver: (message, destination, context) =>
      deliver({ sessions, timeoutMs }, message, destination, context),
    close: () => sessions.close(),
  };
}

async function deliver(
  { sessions, timeoutMs }: { sessions: Sessions; timeoutMs: number },
  message: OutgoingMessage,
  destination: Destination,
  context: DeliveryContext,
): Promise<Delivered> {
  const { metadata, secrets } = destination;
  const place = placeOf(metadata.url);
  if ('fault' in place) return { kind: 'failed', error: `metadata.url ${place.fault}.` };
  const access: Access = { ...place, exchange: metadata.exchange, ...secrets };
  const publication = await publicationOf(message, destination);
  if (Buffer.byteLength(publication.routingKey) > longestName) {
    const error = `The routing key would have more than ${longestName} bytes: shorten metadata.routingKeyTemplate.`;
    return { kind: 'failed', error };
  }
  const limit = limited(context.signal, timeoutMs);
  try {
    return await publish(sessions, access, publication, { ...context, signal: limit.signal });
  } catch (error) {
    if (context.signal.aborted) return { kind: 'unsent' };
    return failureOf(limit.signal.aborted ? limit.signal.reason : error, access);
  } finally {
    limit.end();
  }
}

/** A connection that was lost at rest is replaced: the id of the message tells a repetition. */
async function publish(
  sessions: Sessions,
  access: Access,
  publication: Publication,
  { ground, signal, mayStillSend }: DeliveryContext,
): Promise<Delivered> {
  for (;;) {
    let current: Session | undefined;
    let used: Session | undefined;
    try {
      return await sessions.use(access, ground.egress, signal, async (session) => {
        current = session;
        used = session.isUsed ? session : undefined;
        if (!mayStillSend()) return { kind: 'unsent' };
        await session.publish(publication);
        return { kind: 'delivered' };
      });
    } catch (error) {
      // Nobody else finds out that a broker is silent.
      if (signal.reason instanceof TimeIsOver) current?.destroy();
      if (!used?.isBroken || signal.aborted || isSaid(error)) throw error;
    }
  }
}

/** The broker closed the channel with words: it would do so again. */
function isSaid(error: unknown): boolean {
  return error instanceof Error && / closed: .*\(\d{3}\)$/s.test(error.message);
}

async function publicationOf(
  message: OutgoingMessage,
  { id: destinationId, metadata }: Destination,
): Promise<Publication> {
  const { id, projectId, installationId, groupRef, object, createdAt, replay } = message;
  return {
    routingKey: fill(metadata.routingKeyTemplate ?? defaultRoutingKey, message, inRoutingKey),
    body: await message.body(),
    properties: {
      messageId: id,
      type: topicOf(message),
      timestamp: createdAt,
      contentType: 'application/json',
      appId: 'svc',
      deliveryMode: persistent,
      headers: {
        projectId,
        destinationId,
        installationId,
        groupRef,
        objectName: object,
        ...(replay ? { 'x-svc-replay': 'true' } : {}),
      },
    },
  };
}

/** A value is one word of the key, whoever chose it; the type of a notification has its own words. */
function inRoutingKey(value: string, name: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  return name === 'type' ? encoded : encoded.replaceAll('.', '%2E').replaceAll('*', '%2A');
}

function limited(outer: AbortSignal, timeoutMs: number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new TimeIsOver(`The broker did not confirm the message within ${timeoutMs / 1_000} s`));
  }, timeoutMs);
  const stop = (): void => controller.abort(outer.reason);
  outer.addEventListener('abort', stop, { once: true });
  if (outer.aborted) stop();
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', stop);
    },
  };
}
