import type { KeyObject } from 'node:crypto';
import { sendHttp, type HttpAnswer } from '../../kit/http/client.ts';
import { hidden, secretsOfUrl, withoutSecretsOfUrl } from '../hidden.ts';
import { refusedBy, unanswered } from '../http-outcome.ts';
import { hideSecrets } from '../secrets.ts';
import type { DeclaredKind, Delivered, DestinationKind, OpenDestination, OutgoingMessage } from '../kind.ts';
import { checkWebhook } from './check.ts';
import { WebhookMetadata, WebhookSecrets } from './schema.ts';
import { newSigningKey, signedHeaders, signingKeyOf } from './sign.ts';

interface WebhookOptions {
  /** For one attempt in total. */
  timeoutMs?: number;
}

/** Of an answer, for the log of the delivery. */
const answerBytes = 4_096;
const restMs = 1_000;
const shape = { type: 'webhook', metadata: WebhookMetadata, secrets: WebhookSecrets };

export const webhook: DeclaredKind = {
  ...shape,
  create: () => createWebhook(),
  // Such as an Authorization, or a token in the query.
  withoutSecrets: (metadata) => {
    const shown = { ...metadata, url: withoutSecretsOfUrl(String(metadata['url'])) };
    const { headers } = metadata;
    if (typeof headers !== 'object' || headers === null) return shown;
    return { ...shown, headers: Object.fromEntries(Object.keys(headers).map((name) => [name, hidden])) };
  },
};

/** Posts each message as it is, signed as Standard Webhooks says. */
export function createWebhook({ timeoutMs = 15_000 }: WebhookOptions = {}): DestinationKind<
  WebhookMetadata,
  WebhookSecrets
> {
  return {
    ...shape,
    connectsEach: true,
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
      return 'answer' in result
        ? judge(withoutSecretsOf(result.answer, destination))
        : unanswered(result.fault, {
            who: 'The receiver',
            timeoutMs,
            slow: 'Answer first, and do the work after.',
          });
    },
  };
}

type Webhook = OpenDestination<WebhookMetadata, WebhookSecrets>;

function headersOf(
  message: OutgoingMessage,
  { metadata, secrets, formerSecrets = [] }: Webhook,
  body: Buffer,
): Record<string, string> {
  const own = Object.entries(metadata.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    'user-agent': 'svc',
    ...(Object.fromEntries(own) as Record<string, string>),
    'content-type': 'application/json',
    ...signedHeaders([secrets, ...formerSecrets].flatMap(keyOf), {
      id: message.id,
      at: new Date(),
      body,
    }),
    ...(message.notificationType ? { 'webhook-event-type': message.notificationType } : {}),
    ...(message.replay ? { 'x-svc-replay': 'true' } : {}),
  };
}

/** Opened secrets are remembered with their destination, and their keys with them. */
const keys = new WeakMap<WebhookSecrets, KeyObject>();

function keyOf(secrets: WebhookSecrets | undefined): KeyObject[] {
  if (secrets?.webhookSigningKey === undefined) return [];
  const key = keys.get(secrets) ?? signingKeyOf(secrets.webhookSigningKey);
  keys.set(secrets, key);
  return [key];
}

/** Some receivers answer with the request that they got. */
function withoutSecretsOf(answer: HttpAnswer, { metadata, secrets }: Webhook): HttpAnswer {
  if (answer.body === '') return answer;
  const values = Object.values(metadata.headers ?? {}).map(String);
  // Such as `Bearer …`, of which a receiver may repeat the token alone.
  const tokens = values.flatMap((value) => (/^\S+ (\S+)$/.exec(value) ?? []).slice(1));
  const own = [...secretsOfUrl(metadata.url), ...values, ...tokens, secrets.webhookSigningKey ?? ''];
  return { ...answer, body: hideSecrets(answer.body, own) };
}

function judge(answer: HttpAnswer): Delivered {
  const { status, body } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer: body };
  const failed = refusedBy(answer, errorOf(status));
  return status === 410 ? { ...failed, disable: 'The receiver answered 410 Gone.' } : failed;
}

function errorOf(status: number): string {
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}: redirects are not followed. Give the destination the URL that they lead to.`;
  return `The receiver answered ${status}. Any answer but 2xx is a failure.`;
}
