import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

const prefix = 'whsec_';

export function newSigningKey(): string {
  return prefix + randomBytes(32).toString('base64');
}

/** The key behind a secret of this form. Made once for many messages: making it costs three times as much as a signature. */
export function signingKeyOf(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'));
}

/** The headers that Standard Webhooks asks for, over the exact bytes that are sent; and the same under the names of Svix. */
export function signedHeaders(
  keys: readonly KeyObject[],
  { id, at, body }: { id: string; at: Date; body: Buffer },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = keys.map((key) => `v1,${signatureOf(key, `${id}.${timestamp}.`, body)}`).join(' ');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': signature,
  };
}

function signatureOf(key: KeyObject, before: string, body: Buffer): string {
  return createHmac('sha256', key).update(before).update(body).digest('base64');
}
