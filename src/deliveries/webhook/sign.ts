import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

export function newSigningKey(): string {
  return prefix + randomBytes(32).toString('base64');
}

/** The headers that Standard Webhooks asks for, over the exact bytes that are sent; and the same under the names of Svix. */
export function signedHeaders(
  keys: readonly string[],
  { id, at, body }: { id: string; at: Date; body: Buffer },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = keys.map((key) => `v1,${signatureOf(key, `${id}.${timestamp}.`, body)}`).join(' ');
  const parts = { id, timestamp, signature };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, value]) => [
      [`webhook-${name}`, value],
      [`svix-${name}`, value],
    ]),
  );
}

function signatureOf(key: string, before: string, body: Buffer): string {
  const secret = Buffer.from(key.slice(prefix.length), 'base64');
  return createHmac('sha256', secret).update(before).update(body).digest('base64');
}
