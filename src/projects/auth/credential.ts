import { problem } from '../../kit/problem.ts';

/** Header values by lower-case name, as Node gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What a token begins with that this service made itself. */
export const frontendTokenPrefix = 'svcf_';

/** Three parts in base64url (RFC 7515, 7.1). */
const tokenForm = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/** The credential of a request. `X-Api-Key` wins over `Authorization: Bearer`, which holds a key or a front-end token. */
export function credentialOf(headers: Headers): { kind: 'apiKey' | 'token' | 'ownToken'; text: string } {
  const apiKey = single(headers, 'x-api-key');
  if (apiKey !== undefined) return { kind: 'apiKey', text: apiKey };
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
