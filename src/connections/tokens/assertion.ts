import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { refuse } from '../../kit/problem.ts';
import { providerUrl, type ConnectionPlace, type Provider } from '../../providers/index.ts';
import type { AssertionKey } from '../credentials/index.ts';
import type { TokenGrant } from './token.ts';

/** Salesforce takes three to five minutes at the most. */
const lifeSeconds = 180;

/** The JWT bearer grant (RFC 7523, 2.1), signed now with RS256. Throws invalid-request for a key that signs nothing. */
export async function jwtBearerGrant(
  provider: Provider,
  place: ConnectionPlace,
  { clientId, username, privateKey }: AssertionKey,
): Promise<TokenGrant> {
  const audience = providerUrl(provider, provider.oauth2Opts?.assertionAudience ?? '', place);
  const assertion = await new SignJWT()
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(clientId)
    .setSubject(username)
    .setAudience(audience)
    .setExpirationTime(Math.floor(Date.now() / 1000) + lifeSeconds)
    .sign(rsaKeyOf(privateKey));
  return {
    type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    params: { assertion },
    scopes: undefined,
  };
}

/** A form with one line takes the line ends out of a key. */
function inLines(pem: string): string {
  const [, label, body = ''] =
    /^\s*-----BEGIN ([A-Z ]+)-----([\sA-Za-z0-9+/=]*)-----END \1-----\s*$/.exec(pem) ?? [];
  if (label === undefined) return pem;
  const lines = body.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function rsaKeyOf(pem: string): KeyObject {
  const detail = 'must be the PEM of an RSA private key of 2048 bits or more, without a passphrase';
  const refusal = refuse([{ in: 'body', name: 'customAuth.privateKey', detail }]);
  try {
    const key = createPrivateKey(inLines(pem));
    const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    if (key.asymmetricKeyType !== 'rsa' || modulusLength < 2048) throw refusal;
    return key;
  } catch {
    throw refusal;
  }
}
