import { problem } from '../../kit/problem.ts';

/** Header values by lower-case name, as Node gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What a token begins with that this service made itself. */
export const frontendTokenPrefix = 'svcf_';

/** What helps where a token was right and is over. A page holds no API key: whoever reads this in it asks for a token. */
export const newToken = 'Ask your own server for a new front-end token.';

/** Three parts in base64url (RFC 7515, 7.1). */
const tokenForm = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/** Whether what stands where a key is expected is a front-end token. */
function isFrontendToken(text: string): boolean {
  return text.startsWith(frontendTokenPrefix) || (text.startsWith('eyJ') && tokenForm.test(text));
}

/** Throws unauthenticated for a front-end token, where keys alone are taken. */
export function refuseTokenAsKey(text: string): void {
  if (!isFrontendToken(text)) return;
  throw problem('unauthenticated', {
    detail: 'The proxy takes API keys only; what came is a front-end token.',
    remedy: 'Call the proxy from your own server, with an API key of the scope proxy.',
  });
}

/** Whether there is one, of whatever form. */
export const bringsCredential = (headers: Headers): boolean =>
  headers['x-api-key'] !== undefined || headers['authorization'] !== undefined;

/** The credential of a request. `X-Api-Key` wins over `Authorization: Bearer`, which holds a key or a front-end token. */
export function credentialOf(headers: Headers): { kind: 'apiKey' | 'token' | 'ownToken'; text: string } {
  const apiKey = single(headers, 'x-api-key');
  if (apiKey !== undefined) {
    if (isFrontendToken(apiKey))
      throw problem('unauthenticated', {
        detail: 'What stands in X-Api-Key is a front-end token.',
        remedy: 'Send it as `Authorization: Bearer`.',
      });
    return { kind: 'apiKey', text: apiKey };
  }
  const authorization = single(headers, 'authorization');
  if (authorization === undefined) {
    throw problem('unauthenticated', {
      detail: 'There is neither a header X-Api-Key nor an Authorization: Bearer.',
    });
  }
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  if (bearer === undefined) {
    throw problem('unauthenticated', {
      detail: 'The header Authorization must be `Bearer` and a key or token.',
    });
  }
  if (bearer.startsWith(frontendTokenPrefix)) return { kind: 'ownToken', text: bearer };
  return { kind: tokenForm.test(bearer) ? 'token' : 'apiKey', text: bearer };
}

/** Node joins the values of a repeated header with a comma and a space, which stands in no key and no token. */
function single(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || (typeof value === 'string' && !value.includes(', '))) return value;
  throw problem('unauthenticated', { detail: `The header ${name} stands more than once; send it once.` });
}
