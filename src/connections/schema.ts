import { Type, type Static } from 'typebox';
import { reference, shownName } from '../kit/reference-schema.ts';
import { ProviderApp } from '../projects/schema.ts';
import { connectionStatuses } from './words-schema.ts';

const closed = { additionalProperties: false } as const;
const ref = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
const secret = (description: string) => Type.String({ minLength: 1, maxLength: 16_384, description });
const scopes = Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 500 });
const time = Type.String({ description: 'RFC 3339, UTC.' });

/** A customer's customer, as the builder names it. */
export const Group = Type.Object(
  {
    groupRef: Type.String(),
    groupName: Type.String(),
    projectId: Type.String(),
    createTime: time,
    updateTime: Type.Optional(time),
  },
  { ...closed, title: 'Group' },
);
export type Group = Static<typeof Group>;

/** A person of a group, as the builder names it. */
export const Consumer = Type.Object(
  {
    consumerRef: Type.String(),
    consumerName: Type.String(),
    projectId: Type.String(),
    createTime: time,
    updateTime: Type.Optional(time),
  },
  { ...closed, title: 'Consumer' },
);
export type Consumer = Static<typeof Consumer>;

const MetadataItem = Type.Object(
  {
    value: Type.String({ maxLength: 2_000 }),
    source: Type.Enum(['input', 'token', 'provider']),
    displayName: Type.Optional(Type.String({ maxLength: 255 })),
  },
  { ...closed, title: 'ProviderMetadataItem' },
);

/** What a connection knows about the account besides its credentials: name → value and where it came from. */
export const ProviderMetadata = Type.Record(Type.String({ minLength: 1, maxLength: 100 }), MetadataItem, {
  title: 'ProviderMetadata',
  maxProperties: 50,
});
export type ProviderMetadata = Static<typeof ProviderMetadata>;

const authSchemes = [
  'none',
  'apiKey',
  'basic',
  'oauth2/authorizationCode',
  'oauth2/authorizationCodePKCE',
  'oauth2/clientCredentials',
  'oauth2/password',
  'custom',
] as const;
export const AuthScheme = Type.Enum([...authSchemes]);
export type AuthScheme = (typeof authSchemes)[number];

export const ConnectionStatus = Type.Enum([...connectionStatuses]);
export type ConnectionStatus = Static<typeof ConnectionStatus>;

const Token = Type.Object(
  { token: Type.String(), issuedAt: Type.Optional(time), expiresAt: Type.Optional(time) },
  { ...closed, title: 'Token' },
);

/** What the provider said last of how many calls it takes, as the node that answers knows it. */
const RateBudget = Type.Object(
  {
    closedUntil: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Nothing queued is sent before, unless the customer connects again: the limit was reached. At most 24 hours away.',
      }),
    ),
    lockedOut: Type.Optional(Type.Boolean({ description: 'The provider locked the token out for so long.' })),
    limit: Type.Optional(Type.Number({ description: 'Calls in the window of the provider.' })),
    remaining: Type.Optional(Type.Number({ description: 'Calls that were left in it.' })),
  },
  { ...closed, title: 'RateBudget' },
);
export type RateBudget = Static<typeof RateBudget>;

/** A connection on the wire. Secrets stand in it only when asked for, and only for scope `full`. */
export const Connection = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    provider: Type.String(),
    providerApp: Type.Optional(ProviderApp),
    group: Group,
    consumer: Consumer,
    providerWorkspaceRef: Type.Optional(Type.String()),
    providerConsumerRef: Type.Optional(Type.String()),
    createTime: time,
    updateTime: Type.Optional(time),
    authScheme: AuthScheme,
    status: Type.Enum([...connectionStatuses], {
      description:
        '`created`: new or just refreshed. `working`: a provider call succeeded. `bad_credentials`: connect again.',
    }),
    statusDetail: Type.Optional(
      Type.String({ description: 'Why the credentials do not work, or are not used.' }),
    ),
    isAside: Type.Optional(
      Type.Literal(true, {
        description:
          'An import set these tokens aside, since they did not pass their trial and the connection of the account keeps its own: nothing uses them, and nobody needs to connect again for them.',
      }),
    ),
    missingScopes: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Scopes of the provider app that were not granted: calls that need them are refused. There when there are any and the provider says what it granted.',
      }),
    ),
    oauth2AuthorizationCode: Type.Optional(
      Type.Object(
        {
          accessToken: Type.Optional(Token),
          refreshToken: Type.Optional(Token),
          scopes: Type.Optional(Type.Array(Type.String())),
        },
        closed,
      ),
    ),
    apiKey: Type.Optional(Type.String()),
    tokenIssueTime: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the access token in place was asked for.' }),
    ),
    tokenExpireTime: Type.Optional(
      Type.String({ format: 'date-time', description: 'When it ends; it is renewed before.' }),
    ),
    rateBudget: Type.Optional(RateBudget),
    providerMetadata: Type.Optional(ProviderMetadata),
  },
  { ...closed, title: 'Connection' },
);
export type Connection = Static<typeof Connection>;

/** Body of POST /v1/oauth-connect; `returnUrl` is an addition. */
export const OAuthConnectRequest = Type.Object(
  {
    projectIdOrName: ref('The project, by id or name.'),
    provider: ref('A key of GET /v1/providers.'),
    groupRef: reference("The group, by the builder's own id."),
    consumerRef: reference("The person who connects, by the builder's own id."),
    groupName: Type.Optional(
      shownName(
        255,
        'Default: groupRef. Front-end tokens name a group that has no name yet, and rename none.',
      ),
    ),
    consumerName: Type.Optional(shownName(255, 'Default: consumerRef.')),
    providerWorkspaceRef: Type.Optional(ref('The account at the provider, such as a subdomain.')),
    providerMetadata: Type.Optional(ProviderMetadata),
    providerAppId: Type.Optional(
      ref('The provider app to connect with. Default: the one of the provider with `isDefault`.'),
    ),
    enableCSRFProtection: Type.Optional(
      Type.Boolean({
        description: 'Accepted for compatibility; every flow is protected by a single-use state.',
      }),
    ),
    returnUrl: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description:
          "Where the browser goes afterwards, with `connectionId` or `error`. Its origin must be in the operator's list or among the `allowedOrigins` of the project.",
      }),
    ),
  },
  { ...closed, title: 'OAuthConnectRequest' },
);
export type OAuthConnectRequest = Static<typeof OAuthConnectRequest>;

const ClientCredentials = Type.Object(
  {
    clientId: secret('The client id.'),
    clientSecret: secret('The client secret.'),
    scopes: Type.Optional(scopes),
  },
  { ...closed, title: 'OAuth2ClientCredentials' },
);
const PasswordCredentials = Type.Object(
  {
    username: secret('The user name.'),
    password: secret('The password.'),
    clientId: secret('The client id.'),
    clientSecret: secret('The client secret.'),
    scopes: Type.Optional(scopes),
  },
  { ...closed, title: 'OAuth2PasswordCredentials' },
);
const TokenInput = Type.Object(
  {
    token: secret('The token.'),
    issuedAt: Type.Optional(Type.String({ format: 'date-time' })),
    expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { ...closed, title: 'TokenInput' },
);
const ImportedTokens = Type.Object(
  {
    accessToken: Type.Optional(TokenInput),
    refreshToken: Type.Optional(TokenInput),
    scopes: Type.Optional(scopes),
  },
  { ...closed, title: 'ImportedTokens' },
);

const credentialBlocks = {
  apiKey: Type.Optional(secret('The API key.')),
  basicAuth: Type.Optional(
    Type.Object(
      { username: Type.String({ maxLength: 1_000 }), password: Type.String({ maxLength: 4_000 }) },
      closed,
    ),
  ),
  customAuth: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 16_384 }), {
      maxProperties: 50,
      description: "Values by the names of the provider's `customOpts.inputs`.",
    }),
  ),
  oauth2ClientCredentials: Type.Optional(ClientCredentials),
  oauth2PasswordCredentials: Type.Optional(PasswordCredentials),
  oauth2AuthorizationCode: Type.Optional(ImportedTokens),
};

const requestFields = {
  provider: Type.Optional(ref('A key of GET /v1/providers.')),
  groupRef: Type.Optional(reference("The group, by the builder's own id.")),
  groupName: Type.Optional(
    shownName(255, 'Default: groupRef. Front-end tokens name a group that has no name yet, and rename none.'),
  ),
  consumerRef: Type.Optional(reference("The person who connects, by the builder's own id.")),
  consumerName: Type.Optional(shownName(255, 'Default: consumerRef.')),
  providerWorkspaceRef: Type.Optional(ref('The account at the provider, such as a subdomain.')),
  providerMetadata: Type.Optional(ProviderMetadata),
};

/** What a caller may say about a connection; `connections:generate` needs provider, group, consumer and one block. */
export const ConnectionRequest = Type.Object(
  { ...requestFields, ...credentialBlocks },
  { ...closed, title: 'ConnectionRequest' },
);
export type ConnectionRequest = Static<typeof ConnectionRequest>;

/** Body of PATCH …/connections/{id}. */
export const UpdateConnectionRequest = Type.Object(
  {
    updateMask: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1, maxItems: 20 }),
    connection: ConnectionRequest,
  },
  { ...closed, title: 'UpdateConnectionRequest' },
);
export type UpdateConnectionRequest = Static<typeof UpdateConnectionRequest>;
