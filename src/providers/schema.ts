import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

/** One field of an object at the provider (product-api 1.7). */
export const FieldMetadata = Type.Object(
  {
    fieldName: Type.String(),
    displayName: Type.String(),
    valueType: Type.Enum([
      'string',
      'boolean',
      'singleSelect',
      'multiSelect',
      'date',
      'datetime',
      'int',
      'float',
      'reference',
      'other',
    ]),
    providerType: Type.Optional(Type.String({ description: "The provider's own name of the type." })),
    readOnly: Type.Optional(Type.Boolean()),
    isCustom: Type.Optional(Type.Boolean()),
    isRequired: Type.Optional(Type.Boolean()),
    referenceTo: Type.Optional(Type.Array(Type.String())),
    values: Type.Optional(
      Type.Array(Type.Object({ value: Type.String(), displayValue: Type.String() }, closed)),
    ),
  },
  { ...closed, $id: 'FieldMetadata' },
);
export type FieldMetadata = Static<typeof FieldMetadata>;

// A URL of the catalogue: `{{name}}` stands for a value of the connection.
const TemplateUrl = Type.String({ pattern: '^(?:https://|\\{\\{)[^\\s]+$' });
const Names = Type.Array(Type.String({ minLength: 1 }));
const Texts = Type.Record(Type.String(), Type.String());
const HeaderForm = Type.Object(
  { name: Type.String({ minLength: 1 }), valuePrefix: Type.Optional(Type.String()) },
  closed,
);

const TokenMetadataFields = Type.Object(
  {
    workspaceRefField: Type.Optional(Type.String({ description: 'Dotted path into the token response.' })),
    consumerRefField: Type.Optional(Type.String()),
    scopesField: Type.Optional(Type.String()),
    otherFields: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String(),
            displayName: Type.Optional(Type.String()),
            path: Type.String(),
            capture: Type.Optional(
              Type.String({ description: 'A regular expression with the group `result`.' }),
            ),
          },
          closed,
        ),
      ),
    ),
  },
  closed,
);

const oauth2Public = {
  grantType: Type.Enum(['authorizationCode', 'authorizationCodePKCE', 'clientCredentials', 'password']),
  authURL: Type.Optional(TemplateUrl),
  tokenURL: TemplateUrl,
  explicitScopesRequired: Type.Boolean(),
  explicitWorkspaceRequired: Type.Boolean(),
  audience: Type.Optional(Names),
  tokenMetadataFields: TokenMetadataFields,
  authURLParams: Type.Optional(Texts),
  accessTokenOpts: Type.Optional(
    Type.Object({ attachmentType: Type.Literal('header'), header: HeaderForm }, closed),
  ),
  keepAliveIntervalHours: Type.Optional(Type.Integer({ minimum: 1 })),
  docsURL: Type.Optional(Type.String()),
};
/** The part of `oauth2Opts` that callers see. */
export const Oauth2Info = Type.Object(oauth2Public, closed);
export type Oauth2Info = Static<typeof Oauth2Info>;

const Oauth2Declaration = Type.Object(
  {
    ...oauth2Public,
    revokeURL: Type.Optional(TemplateUrl),
    introspectURL: Type.Optional(TemplateUrl),
    pkce: Type.Boolean({
      description: 'Whether a code challenge is sent; false where the provider rejects one.',
    }),
    scopeSeparator: Type.String({ minLength: 1, maxLength: 1 }),
    defaultScopes: Type.Optional(Names),
    tokenClientAuth: Type.Enum(['body', 'basic'], {
      description: 'Where client id and secret go on token calls.',
    }),
    tokenBody: Type.Optional(Type.Enum(['form', 'json'], { description: 'form unless given.' })),
    tokenParams: Type.Optional(Texts),
    accessTokenLifetimeSeconds: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Assumed when the token response has no expires_in.' }),
    ),
    refreshTokenRotates: Type.Optional(
      Type.Boolean({ description: 'Each refresh returns a new refresh token and ends the old one.' }),
    ),
  },
  closed,
);

const ApiKeyOpts = Type.Object(
  {
    attachmentType: Type.Enum(['header', 'query']),
    header: Type.Optional(HeaderForm),
    query: Type.Optional(Type.Object({ name: Type.String({ minLength: 1 }) }, closed)),
    docsURL: Type.Optional(Type.String()),
  },
  closed,
);

const BasicOpts = Type.Object(
  {
    apiKeyAsBasic: Type.Optional(Type.Boolean()),
    apiKeyAsBasicOpts: Type.Optional(
      Type.Object(
        {
          fieldUsed: Type.Enum(['username', 'password']),
          keyFormat: Type.Optional(
            Type.String({ description: 'A template around the key: `{{apiKey}}` stands for it.' }),
          ),
        },
        closed,
      ),
    ),
    docsURL: Type.Optional(Type.String()),
  },
  closed,
);

const ValueTemplate = Type.Object(
  { name: Type.String({ minLength: 1 }), valueTemplate: Type.String({ minLength: 1 }) },
  closed,
);
const CustomInput = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    displayName: Type.Optional(Type.String()),
    prompt: Type.Optional(Type.String()),
    docsURL: Type.Optional(Type.String()),
    fieldType: Type.Optional(Type.Enum(['fieldTypeText', 'fieldTypePassword', 'fieldTypeSelect'])),
    options: Type.Optional(Names),
  },
  closed,
);
const CustomOpts = Type.Object(
  {
    headers: Type.Optional(Type.Array(ValueTemplate)),
    queryParams: Type.Optional(Type.Array(ValueTemplate)),
    inputs: Type.Array(CustomInput, { minItems: 1 }),
  },
  closed,
);

const HealthCheck = Type.Object(
  {
    url: TemplateUrl,
    method: Type.Optional(Type.Enum(['GET', 'POST'], { description: 'GET unless given.' })),
    successStatusCodes: Type.Optional(Type.Array(Type.Integer({ minimum: 100, maximum: 599 }))),
  },
  closed,
);

const MetadataInput = Type.Object(
  {
    name: Type.String({ pattern: '^\\w+$' }),
    displayName: Type.Optional(Type.String()),
    prompt: Type.Optional(Type.String()),
    defaultValue: Type.Optional(Type.String()),
    docsURL: Type.Optional(Type.String()),
  },
  closed,
);
const Metadata = Type.Object({ input: Type.Array(MetadataInput) }, closed);
const Module = { displayName: Type.String(), baseURL: TemplateUrl };

const identity = {
  name: Type.String({ pattern: '^[A-Za-z0-9]+$' }),
  displayName: Type.String({ minLength: 1 }),
  authType: Type.Enum(['oauth2', 'apiKey', 'basic', 'jwt', 'custom', 'none']),
  baseURL: TemplateUrl,
  labels: Type.Optional(Texts),
  docsURL: Type.Optional(Type.String()),
  apiKeyOpts: Type.Optional(ApiKeyOpts),
  basicOpts: Type.Optional(BasicOpts),
  customOpts: Type.Optional(CustomOpts),
  authHealthCheck: Type.Optional(HealthCheck),
  metadata: Type.Optional(Metadata),
};

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

/** One file of the catalogue: everything that is known of a provider as data. */
export const ProviderDeclaration = Type.Object(
  {
    ...identity,
    defaultModule: Type.Optional(Type.String()),
    modules: Type.Optional(Type.Record(Type.String(), Type.Object(Module, closed))),
    oauth2Opts: Type.Optional(Oauth2Declaration),
    dottedInputs: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Inputs that may be several host labels, such as `acme--dev.sandbox`; the others are one label.',
      }),
    ),
    instanceUrl: Type.Optional(
      Type.Object(
        {
          tokenField: Type.String({
            description: 'The field of the token response that holds the API base.',
          }),
          hostPattern: Type.String({
            pattern: '^(?:\\*\\.)?[a-z0-9-]+(?:\\.[a-z0-9-]+)+$',
            description: 'The hosts that it may name; a leading `*.` stands for one or more labels.',
          }),
        },
        closed,
      ),
    ),
    tokenErrors: Type.Optional(Type.Array(TokenErrorRule)),
    rateLimit: Type.Optional(
      Type.Object(
        {
          limit: Type.Optional(Type.String()),
          remaining: Type.Optional(Type.String()),
          after: Type.Optional(Names),
          at: Type.Optional(Names),
        },
        {
          ...closed,
          description:
            'Header names, lower case: `after` holds seconds or a date, `at` the second of the epoch.',
        },
      ),
    ),
  },
  closed,
);
export type ProviderDeclaration = Static<typeof ProviderDeclaration>;

const BatchSupport = Type.Object(
  { supported: Type.Boolean(), defaultRecordLimit: Type.Optional(Type.Integer()) },
  closed,
);
const Support = Type.Object(
  {
    proxy: Type.Boolean(),
    read: Type.Boolean(),
    write: Type.Boolean(),
    subscribe: Type.Boolean(),
    delete: Type.Boolean(),
    bulkWrite: Type.Object(
      { insert: Type.Boolean(), update: Type.Boolean(), upsert: Type.Boolean(), delete: Type.Boolean() },
      closed,
    ),
    search: Type.Object({ operators: Type.Object({ equals: Type.Boolean() }, closed) }, closed),
    batchWrite: Type.Object(
      { create: BatchSupport, update: BatchSupport, delete: BatchSupport, upsert: BatchSupport },
      closed,
    ),
  },
  closed,
);
export type Support = Static<typeof Support>;

/** A provider as GET /providers shows it (product-api 1.13). */
export const ProviderInfo = Type.Object(
  {
    ...identity,
    defaultModule: Type.String(),
    modules: Type.Optional(Type.Record(Type.String(), Type.Object({ ...Module, support: Support }, closed))),
    oauth2Opts: Type.Optional(Oauth2Info),
    support: Support,
    postAuthInfoNeeded: Type.Optional(Type.Boolean()),
  },
  { ...closed, $id: 'ProviderInfo' },
);
export type ProviderInfo = Static<typeof ProviderInfo>;
