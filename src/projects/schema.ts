import { Type, type Static, type TSchema } from 'typebox';
import { imageForm } from '../kit/reference-schema.ts';
import { ManifestIntegration, ManifestIssue } from './manifest/schema.ts';

export * from './manifest/schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) => Type.String({ format: 'date-time', description });

/** What a credential may reach (docs/contract.md, Authentication). */
export const Scope = Type.Union(
  [
    Type.Literal('full'),
    Type.Literal('develop'),
    Type.Literal('view'),
    Type.Literal('remediate'),
    Type.Literal('write'),
    Type.Literal('read'),
    Type.Literal('proxy'),
    Type.Literal('frontend'),
    Type.Literal('metrics'),
    Type.Literal('operator'),
  ],
  {
    title: 'Scope',
    description:
      '`full` reaches everything of its project; `develop` the same but people, exports and keys of scope `full`; `view` what only shows; `remediate` what mends: retries, replays, pauses. The others reach what the endpoints say. `metrics` and `operator` concern all projects: only a key with `operator` gives them.',
  },
);
export type Scope = Static<typeof Scope>;

/** Of what concerns all projects; `full` does not hold them. */
export const instanceScopes = ['metrics', 'operator'] as const satisfies readonly Scope[];

const keyLife = {
  expiresAt: Type.Optional(time('When it stops to hold.')),
  lastUsedAt: Type.Optional(time('When it was used last, to the minute.')),
};

export const AllowedOrigins = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description:
    'Origins, such as `https://app.example.com`, whose pages may call the management surface from a browser.',
});

const colour = (description: string) =>
  Type.Optional(
    Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: `Such as \`#0f62fe\`. ${description}` }),
  );

/** How the project looks to end users, on pages that this service shows them. */
export const Branding = Type.Object(
  {
    logoUrl: Type.Optional(
      Type.String({ maxLength: 2_000, pattern: imageForm, description: 'An image, by HTTPS.' }),
    ),
    accentColor: colour('Buttons and links on a light background.'),
    accentColorDark: colour('The same on a dark background; default: `accentColor`.'),
  },
  { ...closed, title: 'Branding' },
);
export type Branding = Static<typeof Branding>;
const days = (minimum: number, what: string) => Type.Integer({ minimum, maximum: 36_500, description: what });
const keptKinds = {
  operations: days(
    1,
    'Operations with their records, attempts and logs, by when they were accepted. Unfinished ones stay until they end: ask for more days than a write may be retried.',
  ),
  exchanges: days(
    0,
    'What providers were sent for writes and reads, and what they answered. With 0 nothing is kept from then on.',
  ),
  messages: days(
    0,
    'Messages and what became of them. With 0 the content of a message is removed when it is delivered; the rest, and what is not delivered, is kept as the operator says.',
  ),
  events: days(1, 'Events.'),
  proxyLogs: days(1, 'The log of proxied calls.'),
};
/** In a change, null takes the value away. */
export const orNull = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** For how long a project wants its past kept; what it does not say is the operator's. */
export const KeepDays = Type.Object(
  {
    operations: Type.Optional(keptKinds.operations),
    exchanges: Type.Optional(keptKinds.exchanges),
    messages: Type.Optional(keptKinds.messages),
    events: Type.Optional(keptKinds.events),
    proxyLogs: Type.Optional(keptKinds.proxyLogs),
  },
  {
    ...closed,
    title: 'KeepDays',
    description:
      'Days, by kind of history; at most those of the operator, which hold for what is not named. What is older is not shown, sent or replayed any more. It leaves the disk with its day (operations: month), as soon as all projects with something of that day want it gone, and at the latest after the days of the operator.',
  },
);
export type KeepDays = Static<typeof KeepDays>;

export const KeepDaysChange = Type.Object(
  {
    operations: orNull(keptKinds.operations),
    exchanges: orNull(keptKinds.exchanges),
    messages: orNull(keptKinds.messages),
    events: orNull(keptKinds.events),
    proxyLogs: orNull(keptKinds.proxyLogs),
  },
  { ...closed, title: 'KeepDaysChange', description: 'As `keepDays`; null: as the operator says.' },
);
export type KeepDaysChange = Static<typeof KeepDaysChange>;

export const Project = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    appName: Type.String({ description: 'Shown to end users where they connect.' }),
    allowedOrigins: AllowedOrigins,
    branding: Branding,
    keepDays: KeepDays,
    orgId: Type.String({ description: 'Always the same: an installation of svc has one organization.' }),
    createTime: time('When it was made.'),
    updateTime: time('When it was last changed.'),
  },
  { ...closed, title: 'Project' },
);
export type Project = Static<typeof Project>;

export const ApiKey = Type.Object(
  {
    id: Type.String({ description: 'The public part of the key, by which it is managed.' }),
    key: Type.Optional(Type.String({ description: 'The key itself; shown once, when it is made.' })),
    label: Type.String(),
    scopes: Type.Array(Scope),
    groupRef: Type.Optional(Type.String({ description: 'The only group that the key reaches.' })),
    projectId: Type.String({ format: 'uuid' }),
    active: Type.Boolean(),
    ...keyLife,
    createTime: time('When it was made.'),
    updateTime: time('When it was last changed.'),
  },
  { ...closed, title: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

export const JwtKey = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Sent as `kid` in the header of each token.' }),
    projectId: Type.String({ format: 'uuid' }),
    label: Type.String(),
    algorithm: Type.Literal('RSA'),
    publicKeyPem: Type.String(),
    issuer: Type.Optional(Type.String({ description: 'What the claim `iss` of each token must be.' })),
    audience: Type.Optional(Type.String({ description: 'What the claim `aud` of each token must name.' })),
    active: Type.Boolean(),
    ...keyLife,
    createTime: time('When it was made.'),
    updateTime: time('When it was last changed.'),
  },
  { ...closed, title: 'JwtKey' },
);
export type JwtKey = Static<typeof JwtKey>;

const parameterName = Type.String({ maxLength: 255 });

/** Parameters of a provider app beyond the OAuth client itself. */
export const ProviderAppMetadata = Type.Object(
  {
    authQueryParams: Type.Optional(
      Type.Record(parameterName, Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 100 }), {
        maxProperties: 100,
        description: 'Further parameters of the authorization URL.',
      }),
    ),
    providerParams: Type.Optional(
      Type.Record(parameterName, Type.String({ maxLength: 4_096 }), {
        maxProperties: 100,
        description: "The provider's own settings, such as an install URL.",
      }),
    ),
  },
  { ...closed, title: 'ProviderAppMetadata' },
);
export type ProviderAppMetadata = Static<typeof ProviderAppMetadata>;

export const ProviderApp = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    projectId: Type.String({ format: 'uuid' }),
    provider: Type.String(),
    clientId: Type.String(),
    externalRef: Type.Optional(Type.String({ description: "The provider's own id of the app." })),
    scopes: Type.Optional(Type.Array(Type.String())),
    metadata: Type.Optional(ProviderAppMetadata),
    isDefault: Type.Boolean({
      description: 'Whether connections of its provider are made with it when none is named.',
    }),
    createTime: time('When it was made.'),
    updateTime: time('When it was last changed.'),
  },
  { ...closed, title: 'ProviderApp' },
);
export type ProviderApp = Static<typeof ProviderApp>;

export const Revision = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    specVersion: Type.String(),
    createTime: time('When it was deployed.'),
    content: ManifestIntegration,
  },
  { ...closed, title: 'Revision' },
);

export const Integration = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    projectId: Type.String({ format: 'uuid' }),
    name: Type.String(),
    provider: Type.String(),
    createTime: time('When it was made.'),
    updateTime: time('When it was last changed.'),
    latestRevision: Revision,
  },
  { ...closed, title: 'Integration' },
);

/** An integration that was deployed, with what was found in its part of the manifest. */
export const DeployedIntegration = Type.Object(
  {
    ...Integration.properties,
    warnings: Type.Optional(
      Type.Array(ManifestIssue, {
        description: 'There when there are any; the first integration has those of the whole.',
      }),
    ),
  },
  { ...closed, title: 'DeployedIntegration' },
);

/** What a deploy means to installations that exist. */
export const DeployImpact = Type.Object(
  {
    kind: Type.Union(
      [
        Type.Literal('stopsReading'),
        Type.Literal('stopsWriting'),
        Type.Literal('keepsReading'),
        Type.Literal('keepsWriting'),
        Type.Literal('startsReading'),
        Type.Literal('renamesObject'),
        Type.Literal('losesField'),
        Type.Literal('losesSchedule'),
        Type.Literal('losesMapping'),
        Type.Literal('losesProxy'),
        Type.Literal('needsMapping'),
        Type.Literal('lacksScope'),
      ],
      {
        description:
          '`keepsReading`, `keepsWriting`: the manifest no longer holds the object, and it goes on there until a destructive deploy. `renamesObject`: what is read is delivered under another `mapToName`, and a table of that name holds what changes from then on. `losesField`: nothing is delivered under that name any more. `losesSchedule`: the object is no longer read by a schedule; those whose config has one of its own are not counted. `losesMapping`: writes of the object no longer take the names that the mapping gives, and take the names of the provider only. `losesProxy`: calls through the proxy are refused. `needsMapping`: the customer mapped no field to that name. `lacksScope`: the connection was not granted what the provider app asks for, before the deploy and after it.',
      },
    ),
    object: Type.Optional(
      Type.String({ description: "The provider's name of it; missing where it is about no object." }),
    ),
    field: Type.Optional(Type.String({ description: 'The name under which it is delivered.' })),
    scope: Type.Optional(Type.String({ description: 'The scope that is lacking.' })),
    count: Type.Integer({ description: 'How many installations.' }),
    installations: Type.Array(
      Type.Object({ id: Type.String({ format: 'uuid' }), groupRef: Type.String() }, closed),
      { description: 'The newest of them, at most 20.' },
    ),
  },
  { ...closed, title: 'DeployImpact' },
);
export type DeployImpact = Static<typeof DeployImpact>;

/** What a deploy would do to one integration. */
export const DeployedChange = Type.Object(
  {
    name: Type.String(),
    provider: Type.String(),
    change: Type.Union([Type.Literal('created'), Type.Literal('updated'), Type.Literal('unchanged')]),
    added: Type.Array(Type.String(), {
      description: 'Objects as `read.contacts`, and keys such as `proxy`.',
    }),
    changed: Type.Array(Type.String()),
    removed: Type.Array(Type.String()),
    installations: Type.Integer({ description: 'How many installations the integration has.' }),
    impacts: Type.Array(DeployImpact, {
      description: 'What the change means to them; empty where nothing changes, or nobody is touched.',
    }),
    leftOut: Type.Optional(
      Type.Integer({
        description: 'There where so much changes that this many parts of it were not looked at.',
      }),
    ),
  },
  { ...closed, title: 'DeployedChange' },
);
export type DeployedChange = Static<typeof DeployedChange>;

/** The answer to `dryRun=true`: nothing was written. */
export const DeployPreview = Type.Object(
  {
    dryRun: Type.Literal(true),
    integrations: Type.Array(DeployedChange),
    untouched: Type.Array(Type.String(), {
      description: 'Live integrations that the manifest does not name; a deploy leaves them as they are.',
    }),
    warnings: Type.Array(ManifestIssue),
  },
  { ...closed, title: 'DeployPreview' },
);
export type DeployPreview = Static<typeof DeployPreview>;
