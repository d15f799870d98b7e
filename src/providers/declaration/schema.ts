import { Type, type Static } from 'typebox';
import {
  closed,
  HeaderForm,
  healthCheckPublic,
  identity,
  KeptFields,
  Metadata,
  Module,
  Names,
  oauth2Public,
  TemplateUrl,
  Texts,
} from '../schema.ts';

const Params = Type.Record(Type.String(), Type.String(), {
  description: 'Values may hold variables: `stores/{{storeHash}}`.',
});

const CallbackField = Type.Object(
  {
    param: Type.String({ minLength: 1, description: "A parameter of the redirect's query." }),
    name: Type.String({ pattern: '^\\w+$', description: 'The name under which its value is kept.' }),
    displayName: Type.Optional(Type.String()),
    capture: Type.Optional(Type.String({ description: 'A regular expression with the group `result`.' })),
    isWorkspace: Type.Optional(Type.Boolean({ description: 'Its value says which account was connected.' })),
  },
  closed,
);
export type CallbackField = Static<typeof CallbackField>;

const Oauth2Declaration = Type.Object(
  {
    ...oauth2Public,
    withoutWorkspace: Type.Optional(
      Type.Object(
        { authURL: TemplateUrl, tokenURL: TemplateUrl },
        {
          ...closed,
          description:
            'Where signing in starts and ends when nobody said which account; the token response does, by its API base.',
        },
      ),
    ),
    refreshURL: Type.Optional(TemplateUrl),
    revokeURL: Type.Optional(TemplateUrl),
    revokesAuthorization: Type.Optional(
      Type.Boolean({
        description:
          'Whether revoking one token ends all that its account gave the client, also other tokens.',
      }),
    ),
    introspectURL: Type.Optional(TemplateUrl),
    assertionAudience: Type.Optional(
      Type.String({
        description: 'Whom a signed assertion is for (grantType jwtBearer). May hold variables.',
      }),
    ),
    pkce: Type.Boolean({
      description: 'Whether a code challenge is sent; false where the provider rejects one.',
    }),
    scopeSeparator: Type.String({ minLength: 1, maxLength: 1 }),
    defaultScopes: Type.Optional(Names),
    tokenClientAuth: Type.Enum(['body', 'basic'], {
      description: 'Where client id and secret go on token calls.',
    }),
    refreshClientAuth: Type.Optional(
      Type.Enum(['body', 'basic'], { description: 'At a refresh, in place of tokenClientAuth.' }),
    ),
    tokenBody: Type.Optional(Type.Enum(['form', 'json'], { description: 'form unless given.' })),
    tokenParams: Type.Optional(Params),
    refreshParams: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'At a refresh, in place of tokenParams.' }),
    ),
    // The `iss` of its redirects (RFC 9207): one that says another is refused.
    issuer: Type.Optional(TemplateUrl),
    issParameterSupported: Type.Optional(
      Type.Boolean({ description: 'Whether every redirect has it; one without is refused then.' }),
    ),
    callbackFields: Type.Optional(Type.Array(CallbackField)),
    tokenParamsFromCallback: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Parameters of the redirect's query that the exchange of the code repeats.",
      }),
    ),
    accessTokenLifetimeSeconds: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Assumed when the token response has no expires_in.' }),
    ),
    refreshTokenRotates: Type.Optional(
      Type.Boolean({ description: 'Each refresh returns a new refresh token and ends the old one.' }),
    ),
  },
  closed,
);

/** What an answer of the token endpoint means: `field` (a dotted path, `error` unless given) is one of `is`, or contains one of `contains`. */
const TokenErrorRule = Type.Object(
  {
    field: Type.Optional(Type.String()),
    is: Type.Optional(Names),
    contains: Type.Optional(Names),
    means: Type.Enum(['revoked', 'config', 'transient']),
  },
  closed,
);
export type TokenErrorRule = Static<typeof TokenErrorRule>;

const JsonBody = Type.Record(Type.String(), Type.Unknown());

const HealthCheck = Type.Object(
  {
    ...healthCheckPublic,
    headers: Type.Optional(Texts),
    body: Type.Optional(JsonBody),
    okField: Type.Optional(
      Type.String({
        description:
          'A dotted path whose value is true when the credentials work, whatever the status (Slack).',
      }),
    ),
  },
  closed,
);

const hostPattern = '^(?:\\*\\.)?[a-z0-9-]+(?:\\.[a-z0-9-]+)+$';
const InstanceUrl = Type.Object(
  {
    tokenField: Type.String({
      description: 'The field of the token response that holds the API base.',
    }),
    isHostOnly: Type.Optional(Type.Boolean({ description: 'The field holds a host, not a URL (Wrike).' })),
    hostPatterns: Type.Array(Type.String({ pattern: hostPattern }), {
      minItems: 1,
      description: 'The hosts that it may name; a leading `*.` stands for one or more labels.',
    }),
  },
  closed,
);

/** One call with the new credentials, made when the token response did not say whose account it is. */
const PostAuth = Type.Object(
  {
    url: TemplateUrl,
    headers: Type.Optional(Texts),
    accessToken: Type.Optional(HeaderForm),
    body: Type.Optional(JsonBody),
    select: Type.Optional(
      Type.Object(
        {
          list: Type.Optional(
            Type.String({ description: 'Where the list stands; the answer itself if absent.' }),
          ),
          field: Type.Optional(Type.String()),
          is: Type.Optional(Type.String({ description: 'May hold variables.' })),
          choice: Type.Optional(
            Type.Object(
              { field: Type.String(), shownBy: Type.String() },
              {
                ...closed,
                description:
                  'The entry whose `field` is the providerWorkspaceRef; without one the only entry. Several are refused, each shown by its name and `field`.',
              },
            ),
          ),
        },
        {
          ...closed,
          description: 'Which entry of a list is meant; the first unless a field must be something.',
        },
      ),
    ),
    workspaceRefField: Type.Optional(Type.String()),
    consumerRefField: Type.Optional(Type.String()),
    otherFields: Type.Optional(KeptFields),
  },
  closed,
);
export type PostAuth = Static<typeof PostAuth>;

const RateLimit = Type.Object(
  {
    limit: Type.Optional(Type.String()),
    remaining: Type.Optional(Type.String()),
    after: Type.Optional(Names),
    at: Type.Optional(Names),
    daily: Type.Optional(
      Type.Union([
        Type.Object({ limit: Type.String(), remaining: Type.String() }, closed),
        Type.Object({ usage: Type.String() }, closed),
      ]),
    ),
  },
  {
    ...closed,
    description:
      'Header names, lower case: `after` holds seconds or a date, `at` the second of the epoch; `daily` the calls of a day, as two headers or as one that says `…=used/limit`.',
  },
);

/** When the file was last read against a document of the provider, and what of it that document did not say. */
const Checked = Type.Object(
  {
    on: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    against: Type.String({ pattern: '^https://' }),
    except: Type.Optional(Type.String({ minLength: 1 })),
  },
  closed,
);

/** One file of the catalogue: everything that is known of a provider as data. */
export const ProviderDeclaration = Type.Object(
  {
    ...identity,
    aliases: Type.Optional(
      Type.Array(identity.name, {
        description:
          'Other keys under which the same provider is found, each a provider of its own to connections.',
      }),
    ),
    defaultModule: Type.Optional(Type.String()),
    modules: Type.Optional(Type.Record(Type.String(), Type.Object(Module, closed))),
    oauth2Opts: Type.Optional(Oauth2Declaration),
    authHealthCheck: Type.Optional(HealthCheck),
    metadata: Type.Optional(Metadata),
    dottedInputs: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Inputs that may be several host labels, such as `acme--dev.sandbox`; the others are one label.',
      }),
    ),
    hostInputs: Type.Optional(
      Type.Array(Type.String(), {
        description: "Inputs that are a whole host of the customer's own, such as `shop.example.com`.",
      }),
    ),
    allowedValues: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String({ pattern: '^[a-z0-9.-]+$' }), { minItems: 1 }), {
        description: 'By the name of a variable, the only values that it may have.',
      }),
    ),
    instanceUrl: Type.Optional(InstanceUrl),
    postAuth: Type.Optional(PostAuth),
    tokenErrors: Type.Optional(Type.Array(TokenErrorRule)),
    rateLimit: Type.Optional(RateLimit),
    checked: Type.Optional(Checked),
  },
  closed,
);
export type ProviderDeclaration = Static<typeof ProviderDeclaration>;
