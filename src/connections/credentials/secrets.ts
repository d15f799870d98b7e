import { sealedColumn } from '../../kit/rotation.ts';
import type { Vault } from '../../kit/vault.ts';

/** What is sealed in `connection.credentials`. */
export type Secrets =
  | OAuthSecrets
  | ClientSecrets
  | PasswordSecrets
  | AssertionSecrets
  | KeySecrets
  | BasicSecrets
  | CustomSecrets
  | NoSecrets;

/** Tokens from an authorization code, or imported; the client is the project's provider app. */
export interface OAuthSecrets {
  kind: 'authorizationCode';
  accessToken: string;
  refreshToken?: string;
}
export interface ClientSecrets {
  kind: 'clientCredentials';
  accessToken: string;
  clientId: string;
  clientSecret: string;
  scopes?: string[];
}
export interface PasswordSecrets {
  kind: 'password';
  accessToken: string;
  refreshToken?: string;
  username: string;
  password: string;
  clientId: string;
  clientSecret: string;
  scopes?: string[];
}
/** Who asks with an assertion instead of a secret. `privateKey` is PEM, RSA. */
export interface AssertionKey {
  clientId: string;
  username: string;
  privateKey: string;
}
/** A key that signs for a user; each access token comes from a new assertion. */
export interface AssertionSecrets extends AssertionKey {
  kind: 'jwtBearer';
  accessToken: string;
}
export interface KeySecrets {
  kind: 'apiKey';
  apiKey: string;
}
export interface BasicSecrets {
  kind: 'basic';
  username: string;
  password: string;
}
export interface CustomSecrets {
  kind: 'custom';
  values: Record<string, string>;
}
export interface NoSecrets {
  kind: 'none';
}

/** Tells whether the secrets hold an access token that a token endpoint gives. */
export function hasAccessToken(
  secrets: Secrets,
): secrets is OAuthSecrets | ClientSecrets | PasswordSecrets | AssertionSecrets {
  return (
    secrets.kind === 'authorizationCode' ||
    secrets.kind === 'clientCredentials' ||
    secrets.kind === 'password' ||
    secrets.kind === 'jwtBearer'
  );
}

const place = (projectId: string, id: string): string => `${projectId}/${id}/credentials`;

/** For the rotation of the master keys. */
export const sealedCredentials = sealedColumn({
  table: 'connection',
  rowId: { column: 'id', first: '00000000-0000-0000-0000-000000000000' },
  column: 'credentials',
  place: (projectId, id) => place(projectId, String(id)),
});

/** Bound to the row: the same bytes in another row stay shut. */
export function sealSecrets(vault: Vault, projectId: string, id: string, secrets: Secrets): Buffer {
  return vault.seal(secrets, place(projectId, id));
}

/** Throws when the value was moved from another row, or its master key is not configured. */
export function openSecrets(vault: Vault, projectId: string, id: string, sealed: Buffer): Secrets {
  return vault.open(sealed, place(projectId, id)) as Secrets;
}

/** Whether a token endpoint gives new ones without the customer. */
export function canRenew(secrets: Secrets): boolean {
  if (secrets.kind === 'authorizationCode') return secrets.refreshToken !== undefined;
  return hasAccessToken(secrets);
}
