import { headerOf, sendHttp, type HttpAnswer, type TransportFault } from '../../kit/http/client.ts';
import type { DeclaredKind, Delivered, DestinationKind, OpenDestination, OutgoingMessage } from '../kind.ts';
import { checkWebhook } from './check.ts';
import { waitAskedFor } from './retry-after.ts';
import { WebhookMetadata, WebhookSecrets } from './schema.ts';
import { newSigningKey, signedHeaders } from './sign.ts';

interface WebhookOptions {
  /** For one attempt in total. */
  timeoutMs?: number;
}

/** Of an answer, for the log of the delivery. */
const answerBytes = 4_096;
const restMs = 1_000;
const shape = { type: 'webhook', metadata: WebhookMetadata, secrets: WebhookSecrets };

export const webhook: DeclaredKind = { ...shape, create: () => createWebhook() };

/** Posts each message as it is, signed as Standard Webhooks says. */
export function createWebhook({ timeoutMs = 15_000 }: WebhookOptions = {}): DestinationKind<
  WebhookMetadata,
  WebhookSecrets
> {
  return {
    ...shape,
    check: checkWebhook,
    generate: () => ({ webhookSigningKey: newSigningKey() }),
    shareOf: ({ url }) => new URL(url).origin,
    async deliver(message, destination, { ground, signal, mayStillSend }) {
      const body = await message.body();
      const result = await sendHttp(
        ground.egress,
        {
          method: 'POST',
          url: destination.metadata.url,
          headers: headersOf(message, destination, body),
          body,
        },
        {
          timeoutMs,
          signal,
          maySend: mayStillSend,
          beginning: { bytes: answerBytes, withinMs: restMs },
        },
      );
      return 'answer' in result ? judge(result.answer) : explain(result.fault, timeoutMs);
    },
  };
}

type Webhook = OpenDestination<WebhookMetadata, WebhookSecrets>;

function headersOf(
  message: OutgoingMessage,
  { metadata, secrets, formerSecrets }: Webhook,
  body: Buffer,
): Record<string, string> {
  const own = Object.entries(metadata.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const keys = [secrets.webhookSigningKey, formerSecrets?.webhookSigningKey];
  return {
    'user-agent': 'svc',
    ...(Object.fromEntries(own) as Record<string, string>),
    'content-type': 'application/json',
    ...signedHeaders(
      keys.filter((key) => key !== undefined),
      { id: message.id, at: new Date(), body },
    ),
    ...(message.replay ? { 'x-svc-replay': 'true' } : {}),
  };
}

function judge(answer: HttpAnswer): Delivered {
  const { status, body } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer: body };
  const waits = waitAskedFor(headerOf(answer, 'retry-after'), Date.now());
  return {
    kind: 'failed',
    status,
    answer: body,
    error: errorOf(status),
    ...(waits === undefined ? {} : { retryAfterMs: waits }),
    ...(status === 410 ? { disable: 'The receiver answered 410 Gone.' } : {}),
  };
}

function errorOf(status: number): string {
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}: redirects are not followed. Give the destination the URL that they lead to.`;
  return `The receiver answered ${status}. Any answer but 2xx is a failure.`;
}

function explain({ kind, sent, message }: TransportFault, timeoutMs: number): Delivered {
  // What was cut off here says nothing of the receiver: it is sent again.
  if (kind === 'withheld' || kind === 'aborted') return { kind: 'unsent' };
  if (kind === 'timeout')
    return {
      kind: 'failed',
      silent: true,
      error: sent
        ? `The receiver did not answer within ${timeoutMs / 1000} s. Answer first, and do the work after.`
        : `There was no connection to the receiver within ${timeoutMs / 1000} s.`,
    };
  return {
    kind: 'failed',
    error: `The message could not be posted: ${message}.`,
    ...(kind === 'connect' ? { silent: true } : {}),
  };
}
