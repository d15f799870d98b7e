import { Type, type Static } from 'typebox';

export const closed = { additionalProperties: false } as const;

/** One field of an object at the provider. */
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
  { ...closed, title: 'FieldMetadata' },
);
export type FieldMetadata = Static<typeof FieldMetadata>;

/** A URL of the catalogue: `{{name}}` stands for a value of the connection. */
export const TemplateUrl = Type.String({ pattern: '^(?:https://|\\{\\{)[^\\s]+$' });
/** The same as it is called: the operator may have moved a provider to another origin. */
const CalledUrl = Type.String({ pattern: '^(?:https?://|\\{\\{)[^\\s]+$' });
export const Names = Type.Array(Type.String({ minLength: 1 }));
export const Texts = Type.Record(Type.String(), Type.String());
export const HeaderForm = Type.Object(
  { name: Type.String({ minLength: 1 }), valuePrefix: Type.Optional(Type.String()) },
  closed,
);

/** A value of an answer that is kept with the connection: where it stands there, and under which name it is kept. */
export const KeptFields = Type.Array(
  Type.Object(
    {
      name: Type.String(),
      displayName: Type.Optional(Type.String()),
      path: Type.String(),
      capture: Type.Optional(Type.String({ description: 'A regular expression with the group `result`.' })),
    },
    closed,
  ),
);
export type KeptFields = Static<typeof KeptFields>;

const TokenMetadataFields = Type.Object(
  {
    workspaceRefField: Type.Optional(Type.String({ description: 'Dotted path into the token response.' })),
    consumerRefField: Type.Optional(Type.String()),
    scopesField: Type.Optional(Type.String()),
    otherFields: Type.Optional(KeptFields),
  },
  { ...closed, title: 'TokenMetadataFields' },
);

/** Grants with a redirect or a token request. An assertion is signed here instead. */
const userGrants = ['authorizationCode', 'authorizationCodePKCE', 'clientCredentials', 'password'] as const;

export const oauth2Public = {
  grantType: Type.Enum([...userGrants, 'jwtBearer']),
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
export const Oauth2Info = Type.Object(
  {
    ...oauth2Public,
    grantType: Type.Enum([...userGrants]),
    authURL: Type.Optional(CalledUrl),
    tokenURL: CalledUrl,
  },
  { ...closed, title: 'OAuth2Opts' },
);
export type Oauth2Info = Static<typeof Oauth2Info>;

const ApiKeyOpts = Type.Object(
  {
    attachmentType: Type.Enum(['header', 'query']),
    header: Type.Optional(HeaderForm),
    query: Type.Optional(Type.Object({ name: Type.String({ minLength: 1 }) }, closed)),
    docsURL: Type.Optional(Type.String()),
  },
  { ...closed, title: 'ApiKeyOpts' },
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
  { ...closed, title: 'BasicOpts' },
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
  { ...closed, title: 'CustomAuthInput' },
);
const CustomOpts = Type.Object(
  {
    headers: Type.Optional(Type.Array(ValueTemplate)),
    queryParams: Type.Optional(Type.Array(ValueTemplate)),
    inputs: Type.Array(CustomInput, { minItems: 1 }),
  },
  { ...closed, title: 'CustomAuthOpts' },
);

export const healthCheckPublic = {
  url: TemplateUrl,
  method: Type.Optional(Type.Enum(['GET', 'POST'], { description: 'GET unless given.' })),
  successStatusCodes: Type.Optional(Type.Array(Type.Integer({ minimum: 100, maximum: 599 }))),
};

const MetadataInput = Type.Object(
  {
    name: Type.String({ pattern: '^\\w+$' }),
    displayName: Type.Optional(Type.String()),
    prompt: Type.Optional(Type.String()),
    defaultValue: Type.Optional(Type.String()),
    docsURL: Type.Optional(Type.String()),
  },
  { ...closed, title: 'ProviderMetadataInput' },
);
export const Metadata = Type.Object({ input: Type.Array(MetadataInput) }, closed);
export const Module = { displayName: Type.String(), baseURL: TemplateUrl };

/** What a provider's file and GET /v1/providers say alike. */
export const identity = {
  name: Type.String({ pattern: '^[A-Za-z0-9]+$' }),
  displayName: Type.String({ minLength: 1 }),
  authType: Type.Enum(['oauth2', 'apiKey', 'basic', 'jwt', 'custom', 'none']),
  baseURL: TemplateUrl,
  labels: Type.Optional(Texts),
  docsURL: Type.Optional(Type.String()),
  apiKeyOpts: Type.Optional(ApiKeyOpts),
  basicOpts: Type.Optional(BasicOpts),
  customOpts: Type.Optional(CustomOpts),
};

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
  { ...closed, title: 'Support' },
);
export type Support = Static<typeof Support>;

/** A provider as GET /v1/providers shows it. */
export const ProviderInfo = Type.Object(
  {
    ...identity,
    baseURL: CalledUrl,
    defaultModule: Type.String(),
    modules: Type.Optional(
      Type.Record(Type.String(), Type.Object({ ...Module, baseURL: CalledUrl, support: Support }, closed)),
    ),
    oauth2Opts: Type.Optional(Oauth2Info),
    authHealthCheck: Type.Optional(Type.Object({ ...healthCheckPublic, url: CalledUrl }, closed)),
    metadata: Type.Optional(
      Type.Object(
        {
          input: Type.Array(MetadataInput),
          postAuthentication: Type.Optional(
            Type.Array(Type.Object({ name: Type.String() }, closed), {
              description: 'What the provider tells of the account when it is connected.',
            }),
          ),
        },
        closed,
      ),
    ),
    support: Support,
    postAuthInfoNeeded: Type.Optional(
      Type.Boolean({ description: 'Whether the provider is asked about the account after signing in.' }),
    ),
  },
  { ...closed, title: 'ProviderInfo' },
);
export type ProviderInfo = Static<typeof ProviderInfo>;
