import { Type, type Static, type TProperties } from 'typebox';
import { sealedColumn } from '../../kit/rotation.ts';
import type { Vault } from '../../kit/vault.ts';

const form = <Kind extends string, Members extends TProperties>(kind: Kind, members: Members) =>
  Type.Object({ kind: Type.Literal(kind), ...members }, { additionalProperties: false });
const text = Type.String({ maxLength: 100_000 });
const scopes = Type.Optional(Type.Array(text));
const client = { clientId: text, clientSecret: text, scopes };
/** Who asks with an assertion instead of a secret. `privateKey` is PEM, RSA. */
const assertion = { clientId: text, username: text, privateKey: text };

/** Tokens from an authorization code, or imported; the client is the project's provider app. */
const OAuthSecrets = form('authorizationCode', { accessToken: text, refreshToken: Type.Optional(text) });
const ClientSecrets = form('clientCredentials', { accessToken: text, ...client });
const PasswordSecrets = form('password', {
  accessToken: text,
  refreshToken: Type.Optional(text),
  username: text,
  password: text,
  ...client,
});
/** A key that signs for a user; each access token comes from a new assertion. */
const AssertionSecrets = form('jwtBearer', { ...assertion, accessToken: text });

/** What is sealed in `connection.credentials`. */
export const SealedSecrets = Type.Union([
  OAuthSecrets,
  ClientSecrets,
  PasswordSecrets,
  AssertionSecrets,
  form('apiKey', { apiKey: text }),
  form('basic', { username: text, password: text }),
  form('custom', { values: Type.Record(Type.String(), text) }),
  form('none', {}),
]);
export type Secrets = Static<typeof SealedSecrets>;

export interface AssertionKey {
  clientId: string;
  username: string;
  privateKey: string;
}

/** Tells whether the secrets hold an access token that a token endpoint gives. */
export function hasAccessToken(secrets: Secrets): secrets is Extract<Secrets, { accessToken: string }> {
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

/** Undefined for what cannot be opened here, such as what is sealed with a master key that this node lacks. */
export function openIfReadable(
  vault: Vault,
  projectId: string,
  id: string,
  sealed: Buffer,
): Secrets | undefined {
  try {
    return openSecrets(vault, projectId, id, sealed);
  } catch {
    return undefined;
  }
}

/** Whether a token endpoint gives new ones without the customer. */
export function canRenew(secrets: Secrets): boolean {
  if (secrets.kind === 'authorizationCode') return secrets.refreshToken !== undefined;
  return hasAccessToken(secrets);
}
