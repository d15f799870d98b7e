import { problem, refuse } from '../../kit/problem.ts';
import type { Provider } from '../../providers/index.ts';
import type { AuthScheme, ConnectionRequest } from '../schema.ts';

/** The blocks of credentials that a request may carry. */
const credentialBlocks = [
  'apiKey',
  'basicAuth',
  'customAuth',
  'oauth2ClientCredentials',
  'oauth2PasswordCredentials',
  'oauth2AuthorizationCode',
] as const;
export type CredentialBlock = (typeof credentialBlocks)[number];

/** The block that fits the provider, or undefined when it wants none. */
function blockFor(provider: Provider): CredentialBlock | undefined {
  const { authType, basicOpts, oauth2Opts } = provider;
  if (authType === 'none') return undefined;
  if (authType === 'apiKey') return 'apiKey';
  if (authType === 'basic') return basicOpts?.apiKeyAsBasic ? 'apiKey' : 'basicAuth';
  if (authType === 'custom' || authType === 'jwt') return 'customAuth';
  if (oauth2Opts?.grantType === 'clientCredentials') return 'oauth2ClientCredentials';
  return oauth2Opts?.grantType === 'password' ? 'oauth2PasswordCredentials' : 'oauth2AuthorizationCode';
}

const schemes: Record<Exclude<CredentialBlock, 'oauth2AuthorizationCode'>, AuthScheme> = {
  apiKey: 'apiKey',
  basicAuth: 'basic',
  customAuth: 'custom',
  oauth2ClientCredentials: 'oauth2/clientCredentials',
  oauth2PasswordCredentials: 'oauth2/password',
};

/** The scheme of a connection made with an authorization code. */
function authorizationScheme(provider: Provider): AuthScheme {
  return provider.oauth2Opts?.grantType === 'authorizationCodePKCE'
    ? 'oauth2/authorizationCodePKCE'
    : 'oauth2/authorizationCode';
}

/** How a connection made from the block signs in. */
export function schemeOf(provider: Provider, block: CredentialBlock | undefined): AuthScheme {
  if (block === undefined) return 'none';
  return block === 'oauth2AuthorizationCode' ? authorizationScheme(provider) : schemes[block];
}

/** Throws auth-scheme-mismatch, naming the block that is needed, unless exactly that one was sent. */
export function assertBlockFits(provider: Provider, request: ConnectionRequest): CredentialBlock | undefined {
  const needed = blockFor(provider);
  const sent = credentialBlocks.filter((name) => request[name] !== undefined);
  if (sent.length > 1) {
    throw refuse(
      sent.map((name) => ({ in: 'body', name, detail: 'only one block of credentials may be sent' })),
    );
  }
  if (sent[0] === needed) return needed;
  // A key sent as one half of a basic credential is the same thing.
  if (needed === 'apiKey' && sent[0] === 'basicAuth' && provider.basicOpts?.apiKeyAsBasic) return 'basicAuth';
  const wanted = needed ? `\`${needed}\`` : 'no credentials';
  throw problem('auth-scheme-mismatch', {
    detail: `${provider.displayName} needs ${wanted}${sent[0] ? `, not \`${sent[0]}\`` : ''}.`,
    remedy: needed ? `Send the block \`${needed}\`.` : 'Leave the credentials away.',
  });
}
