import { optional, variable, type ValuesOf } from '../../kit/variable.ts';

/** Signing in elsewhere. The first three belong together. */
export const oidcVariables = {
  oidcIssuer: variable({
    name: 'SVC_OIDC_ISSUER',
    read: issuer,
    about:
      'The OpenID provider at which people may sign in ([people](guides/people.md#signing-in-elsewhere)): its issuer, written as the provider writes it, such as `https://id.example.com/`. With `SVC_OIDC_CLIENT_ID` and `SVC_OIDC_CLIENT_SECRET`; all nodes must have the same.',
  }),
  oidcClientId: variable({
    name: 'SVC_OIDC_CLIENT_ID',
    read: optional,
    about: 'The id of the client that the OpenID provider knows svc by.',
  }),
  oidcClientSecret: variable({
    name: 'SVC_OIDC_CLIENT_SECRET',
    secret: true,
    read: optional,
    about: 'The secret of that client.',
  }),
  oidcName: variable({
    name: 'SVC_OIDC_NAME',
    read: optional,
    about: 'What the button says: “Sign in with …”. Default: the host of the issuer.',
  }),
};

export type OidcValues = ValuesOf<typeof oidcVariables>;

/** The provider at which people may sign in. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
}

/** Undefined where people sign in here only. */
export function oidcOf(given: OidcValues): OidcSettings | undefined {
  const { oidcIssuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcName } = given;
  if (oidcIssuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer: oidcIssuer, clientId, clientSecret, name: oidcName ?? new URL(oidcIssuer).host };
}

/** What the variables lack of one another. */
export function oidcContradictions(given: OidcValues): string[] {
  const parts = {
    SVC_OIDC_ISSUER: given.oidcIssuer,
    SVC_OIDC_CLIENT_ID: given.oidcClientId,
    SVC_OIDC_CLIENT_SECRET: given.oidcClientSecret,
  };
  const missing = Object.entries(parts).filter(([, value]) => value === undefined);
  const isWanted = missing.length < 3 || given.oidcName !== undefined;
  return isWanted
    ? missing.map(
        ([name]) => `${name} is missing: signing in elsewhere needs all of ${Object.keys(parts).join(', ')}`,
      )
    : [];
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Kept as it is written: with or without a slash at the end it is another one. */
function issuer(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.has(url.hostname));
  if (!url || !isSafe) throw new Error('must be an https URL; http only of this machine');
  if (url.search || url.hash || url.username || url.password)
    throw new Error('must be an issuer such as https://id.example.com, without ?, # and user');
  return value;
}
