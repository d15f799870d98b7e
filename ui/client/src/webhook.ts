import { SvcError } from './problem.ts';

/** A request as a web server has it: a `Request`, or headers and the body as it came. */
export type WebhookRequest =
  | Request
  | {
      headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      body: string | Uint8Array;
    };

const toleranceSeconds = 300;

/**
 * The message of a webhook that svc sent, as it signs it (Standard Webhooks). Throws a `SvcError` of code `webhook-invalid` unless one of
 * the secrets made the signature within five minutes of now. Several secrets are those of before and after a rotation.
 */
export async function verifyWebhook<Message = unknown>(
  request: WebhookRequest,
  secret: string | readonly string[],
): Promise<Message> {
  const keys = await keysOf(Array.isArray(secret) ? (secret as readonly string[]) : [secret as string]);
  const { id, timestamp, signature } = signatureParts(request.headers);
  const sentAt = Number(timestamp);
  if (!(Math.abs(Date.now() / 1_000 - sentAt) <= toleranceSeconds))
    throw invalid(`its \`webhook-timestamp\`, ${timestamp}, is more than five minutes from now`);
  const body = await bytesOf(request);
  const before = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(before.length + body.length);
  signed.set(before);
  signed.set(body, before.length);
  const given = signature
    .split(' ')
    .flatMap((part) => (part.startsWith('v1,') ? [fromBase64(part.slice('v1,'.length))] : []));
  if (!(await isSignedByOne(keys, given, signed))) throw invalid('none of the secrets made its signature');
  try {
    return JSON.parse(new TextDecoder().decode(body)) as Message;
  } catch (cause) {
    throw invalid('its body is not JSON', cause);
  }
}

type Key = Parameters<typeof crypto.subtle.verify>[1];

/** `verify` of WebCrypto compares in constant time. */
async function isSignedByOne(
  keys: readonly Key[],
  given: readonly (Uint8Array<ArrayBuffer> | undefined)[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  let isSigned = false;
  for (const key of keys)
    for (const one of given)
      if (one && (await crypto.subtle.verify('HMAC', key, one, signed))) isSigned = true;
  return isSigned;
}

/** Secrets that cannot be any are a fault of the receiver, whatever the message. */
async function keysOf(secrets: readonly string[]): Promise<Key[]> {
  if (secrets.length === 0) throw new TypeError('verifyWebhook: it was given no secret');
  return Promise.all(secrets.map(keyOf));
}

function keyOf(secret: string): Promise<Key> {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined;
  if (!bytes || bytes.length === 0)
    throw new TypeError(
      'verifyWebhook: the secret is not `whsec_` and base64; take `webhookSigningKey` of the secrets of the destination',
    );
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

async function bytesOf(request: WebhookRequest): Promise<Uint8Array> {
  if (request instanceof Request) {
    if (request.bodyUsed) throw invalid('its body was read before: give its headers and the body as it came');
    return new Uint8Array(await request.arrayBuffer());
  }
  const { body } = request;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  throw invalid(
    'its body was read already: give the bytes or the text as they came, not what was parsed of them',
  );
}

function signatureParts(
  headers: WebhookRequest['headers'],
): Record<'id' | 'timestamp' | 'signature', string> {
  return {
    id: headerOf(headers, 'webhook-id'),
    timestamp: headerOf(headers, 'webhook-timestamp'),
    signature: headerOf(headers, 'webhook-signature'),
  };
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof found !== 'string') throw invalid(`it has no header \`${name}\``);
  return found;
}

function invalid(why: string, cause?: unknown): SvcError {
  return new SvcError({
    code: 'webhook-invalid',
    status: 400,
    detail: `This is not a webhook of svc, or not as it was sent: ${why}.`,
    remedy: 'Answer 400 and do nothing with it.',
    cause,
  });
}
