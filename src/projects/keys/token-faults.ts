import { decodeJwt, errors } from 'jose';
import { newToken } from '../auth/credential.ts';

interface Fault {
  detail: string;
  remedy: string;
}

export const longestTokenSeconds = 600;

/** Each claim that a token must have: what it says, and names by which others call it. */
const claims: Readonly<Record<string, { says: string; aliases: readonly string[] }>> = {
  groupRef: {
    says: 'the customer that the page is for',
    aliases: ['group_ref', 'groupref', 'groupId', 'group'],
  },
  consumerRef: {
    says: 'the person who uses the page',
    aliases: ['consumer_ref', 'consumerref', 'consumerId', 'consumer', 'sub'],
  },
  exp: {
    says: `the second since 1970 at which it ends, at most ${longestTokenSeconds} s ahead`,
    aliases: ['expires', 'expiresAt', 'expires_at'],
  },
};

/** Why a front-end token is refused, and what its maker does about it. */
export function faultOfToken(error: errors.JOSEError, token: string): Fault {
  if (error instanceof errors.JWTExpired)
    return {
      detail: 'The front-end token is over: the time in its claim `exp` has passed.',
      remedy: newToken,
    };
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return {
      detail:
        'The signature of the front-end token does not fit: it was signed with another private key than the one whose public key its `kid` names, or the token was cut off or changed on its way.',
      remedy:
        'Send it whole and sign it with that private key, or register the public key of yours: POST /v1/projects/{project}/jwt-keys.',
    };
  if (error instanceof errors.JOSEAlgNotAllowed)
    return {
      detail: 'The front-end token is not signed by RS256.',
      remedy: 'Sign it by RS256, with an RSA key.',
    };
  if (error instanceof errors.JWTClaimValidationFailed) return faultOfClaim(error, token);
  return {
    detail: `The front-end token cannot be read: ${error.message}.`,
    remedy: 'Make it with a JWT library: signed by RS256, its claims a JSON object.',
  };
}

function faultOfClaim({ claim, reason, message }: errors.JWTClaimValidationFailed, token: string): Fault {
  const known = claims[claim];
  if (reason === 'missing' && known) {
    const given = decodeJwt(token);
    const other = known.aliases.find((name) => given[name] !== undefined);
    return {
      detail: `The front-end token lacks the claim \`${claim}\`${other === undefined ? '' : `; it has \`${other}\``}.`,
      remedy: `Sign it with \`${claim}\`: ${known.says}.`,
    };
  }
  if (claim === 'iss' || claim === 'aud')
    return {
      detail: `The claim \`${claim}\` of the front-end token is not what its key asks for.`,
      remedy: `Sign it with the ${claim === 'iss' ? 'issuer' : 'audience'} of the key, or change the key: GET /v1/projects/{project}/jwt-keys tells it.`,
    };
  if (claim === 'nbf')
    return {
      detail: 'The front-end token is not valid yet: the time in its claim `nbf` is to come.',
      remedy: 'Set the clock of the server that signs it, or leave `nbf` out.',
    };
  return {
    detail: `The front-end token is not accepted: ${message}.`,
    remedy: 'Correct that claim where it is signed.',
  };
}
