import type { Provider } from '../../providers/index.ts';
import type { AuthScheme } from '../schema.ts';

/** The scheme of a connection made with an authorization code. */
export function authorizationScheme(provider: Provider): AuthScheme {
  return provider.oauth2Opts?.grantType === 'authorizationCodePKCE'
    ? 'oauth2/authorizationCodePKCE'
    : 'oauth2/authorizationCode';
}
