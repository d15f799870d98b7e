import { Type, type Static } from 'typebox';
import { reference, shownName } from '../../kit/reference-schema.ts';
import { Branding } from '../schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) => Type.String({ format: 'date-time', description });
const name = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
const day = 24 * 3600;

/** How long a front-end token may hold, in seconds; the same as of one that a builder signs. */
export const mostTokenSeconds = 600;
/** How long a link may hold, in seconds. */
export const mostLinkSeconds = 7 * day;

export const FrontendTokenRequest = Type.Object(
  {
    groupRef: reference("The group, by the builder's own id."),
    consumerRef: reference("The person, by the builder's own id."),
    expiresInSeconds: Type.Integer({ minimum: 60, maximum: mostTokenSeconds, default: mostTokenSeconds }),
  },
  { ...closed, title: 'CreateFrontendTokenRequest' },
);

export const FrontendToken = Type.Object(
  {
    token: Type.String({ description: 'Sent as `Authorization: Bearer` by the page; kept nowhere.' }),
    expiresAt: time('When it stops to hold.'),
    groupRef: Type.String({ description: 'Whom it is for: the page compares it with whom it shows.' }),
    consumerRef: Type.String(),
  },
  { ...closed, title: 'FrontendToken' },
);
export type FrontendToken = Static<typeof FrontendToken>;

export const ConnectLinkRequest = Type.Object(
  {
    integration: name('The integration, by id or name.'),
    groupRef: reference("The group, by the builder's own id."),
    groupName: Type.Optional(shownName(255, 'Default: groupRef.')),
    consumerRef: reference("The person, by the builder's own id."),
    consumerName: Type.Optional(shownName(255, 'Default: consumerRef.')),
    returnUrl: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description: "Where the page leads back to; its origin is one of the project's or the operator's.",
      }),
    ),
    expiresInSeconds: Type.Integer({ minimum: 60, maximum: mostLinkSeconds, default: day }),
    singleUse: Type.Boolean({
      default: true,
      description: 'Whether only the browser that opens the link first may use it, until it expires.',
    }),
  },
  { ...closed, title: 'CreateConnectLinkRequest' },
);
export type ConnectLinkRequest = Static<typeof ConnectLinkRequest>;

export const ConnectLink = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    projectId: Type.String({ format: 'uuid' }),
    url: Type.Optional(
      Type.String({ description: 'The link; shown once, when it is made. Who has it acts as the person.' }),
    ),
    integration: Type.String({ description: 'The name of the integration.' }),
    groupRef: Type.String(),
    groupName: Type.Optional(Type.String()),
    consumerRef: Type.String(),
    consumerName: Type.Optional(Type.String()),
    returnUrl: Type.Optional(Type.String()),
    singleUse: Type.Boolean(),
    expiresAt: time('When it stops to hold.'),
    openedAt: Type.Optional(time('When it was opened first.')),
    createTime: time('When it was made.'),
  },
  { ...closed, title: 'ConnectLink' },
);
export type ConnectLink = Static<typeof ConnectLink>;

export const OpenConnectLinkRequest = Type.Object(
  {
    link: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'What stands behind the `#` of the link.',
    }),
    browser: Type.String({
      minLength: 32,
      maxLength: 100,
      description: 'A secret of this browser: a link for one use is opened again by the same one only.',
    }),
    projectId: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'The project of the page: a link of another one does not open.',
      }),
    ),
  },
  { ...closed, title: 'OpenConnectLinkRequest' },
);

export const OpenedConnectLink = Type.Object(
  {
    ...FrontendToken.properties,
    project: Type.Object(
      { id: Type.String(), appName: Type.String(), branding: Branding },
      { ...closed, title: 'ConnectLinkProject' },
    ),
    integration: Type.String(),
    groupRef: Type.String(),
    groupName: Type.Optional(Type.String()),
    consumerRef: Type.String(),
    consumerName: Type.Optional(Type.String()),
    returnUrl: Type.Optional(Type.String()),
    linkExpiresAt: time('When the link stops to hold.'),
  },
  { ...closed, title: 'OpenedConnectLink' },
);
export type OpenedConnectLink = Static<typeof OpenedConnectLink>;
