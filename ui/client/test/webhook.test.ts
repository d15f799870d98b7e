import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { verifyWebhook, type WebhookRequest } from '../src/index.ts';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const body = JSON.stringify({ action: 'read', result: [{ fields: { name: 'Zoë' } }] });

/** Signed by the library of the standard. */
function signed(by: string[] = [secret], at = new Date()): Record<string, string> {
  return {
    'webhook-id': 'm-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': by.map((key) => new Webhook(key).sign('m-1', at, body)).join(' '),
  };
}
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);

describe('ui/client/webhook', () => {
  it.each<[string, WebhookRequest]>([
    ['a Request', new Request('http://app.example', { method: 'POST', headers: signed(), body })],
    ['the text of a body', { headers: new Headers(signed()), body }],
    ['the bytes of a body', { headers: signed(), body: Buffer.from(body) }],
    [
      'headers in another case',
      { headers: Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k.toUpperCase(), v])), body },
    ],
  ])('answers the message of %s', async (_what, request) => {
    expect(await verifyWebhook(request, secret)).toEqual(JSON.parse(body));
  });

  it('takes what is signed with the old key, the new one or both, while it is given both', async () => {
    for (const by of [[secret], [former], [former, secret]])
      await expect(verifyWebhook({ headers: signed(by), body }, [secret, former])).resolves.toBeDefined();
    await expect(verifyWebhook({ headers: signed([former, secret]), body }, secret)).resolves.toBeDefined();
  });

  it.each<[string, WebhookRequest, string | string[], string]>([
    ['another key', { headers: signed([former]), body }, secret, 'none of the secrets'],
    ['another body', { headers: signed(), body: `${body} ` }, secret, 'none of the secrets'],
    ['another id', { headers: { ...signed(), 'webhook-id': 'm-2' }, body }, secret, 'none of the secrets'],
    [
      'a signature of another version',
      { headers: { ...signed(), 'webhook-signature': 'v2,AAAA' }, body },
      secret,
      'none of',
    ],
    [
      'a signature that is no base64',
      { headers: { ...signed(), 'webhook-signature': 'v1,?' }, body },
      secret,
      'none of',
    ],
    [
      'no signature',
      { headers: { ...signed(), 'webhook-signature': undefined }, body },
      secret,
      '`webhook-signature`',
    ],
    ['a time long ago', { headers: signed([secret], ago(360)), body }, secret, 'five minutes'],
    ['a time far ahead', { headers: signed([secret], ago(-360)), body }, secret, 'five minutes'],
    [
      'a time that is none',
      { headers: { ...signed(), 'webhook-timestamp': 'now' }, body },
      secret,
      'five minutes',
    ],
    ['a parsed body', { headers: signed(), body: JSON.parse(body) as string }, secret, 'what was parsed'],
  ])('refuses %s', async (_what, request, by, why) => {
    await expect(verifyWebhook(request, by)).rejects.toMatchObject({
      code: 'webhook-invalid',
      status: 400,
      detail: expect.stringContaining(why) as string,
    });
  });

  it('refuses a Request whose body was read before, and says so', async () => {
    const request = new Request('http://app.example', { method: 'POST', headers: signed(), body });
    await request.text();
    await expect(verifyWebhook(request, secret)).rejects.toThrow('read before');
  });

  it('takes what was sent within five minutes', async () => {
    await expect(verifyWebhook({ headers: signed([secret], ago(299)), body }, secret)).resolves.toBeDefined();
  });

  it('refuses to check with no secret at all, whatever the message', async () => {
    for (const headers of [signed(), {}])
      await expect(verifyWebhook({ headers, body }, [])).rejects.toThrow('it was given no secret');
  });

  it.each(['', 'whsec_', 'whsec_?', undefined as unknown as string])(
    'refuses to check with the secret %j',
    async (by) => {
      const request = { headers: signed(), body };
      await expect(verifyWebhook(request, by)).rejects.toThrow('the secret is not');
      await expect(verifyWebhook(request, [secret, by])).rejects.toThrow('the secret is not');
    },
  );
});
