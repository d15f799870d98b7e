import type { TokenGrant } from './token.ts';

export function refreshGrant(refreshToken: string): TokenGrant {
  return { type: 'refresh_token', params: { refresh_token: refreshToken }, scopes: undefined };
}

export function clientCredentialsGrant(scopes: string[] | undefined): TokenGrant {
  return { type: 'client_credentials', params: {}, scopes };
}

export function passwordGrant(given: {
  username: string;
  password: string;
  scopes?: string[] | undefined;
}): TokenGrant {
  return {
    type: 'password',
    params: { username: given.username, password: given.password },
    scopes: given.scopes,
  };
}
