import { Type, type Static } from 'typebox';
import { pageOf, pageQuery } from '../../kit/paging-schema.ts';

const closed = { additionalProperties: false } as const;

const verbs = {
  project: ['created', 'updated', 'exported', 'imported', 'takenBack'],
  apiKey: ['created', 'updated', 'deleted'],
  jwtKey: ['created', 'updated', 'deleted'],
  frontendToken: ['created'],
  connectLink: ['created', 'opened', 'deleted'],
  providerApp: ['created', 'updated', 'deleted'],
  integration: ['created', 'revised', 'deleted'],
  deploy: ['done'],
  connection: [
    'authorizing',
    'refused',
    'created',
    'updated',
    'deleted',
    'refreshed',
    'disclosed',
    'sampled',
  ],
  installation: ['created', 'updated', 'deleted'],
  operation: ['resolved', 'retried', 'canceled'],
  read: ['paused', 'unpaused'],
  destination: ['created', 'updated', 'deleted', 'disclosed', 'rotated', 'enabled', 'disabled', 'tested'],
  delivery: ['retried'],
  replay: ['started', 'canceled'],
  erasure: ['started', 'done'],
  topic: ['created', 'updated', 'deleted'],
  eventTopicRoute: ['created', 'deleted'],
  topicDestinationRoute: ['created', 'deleted'],
  notifications: ['changed'],
  invitation: ['created', 'deleted'],
  member: ['joined', 'updated', 'removed'],
  person: ['updated'],
} as const;

type Verbs = typeof verbs;
export type TargetType = keyof Verbs;
/** `<what it was done to>.<what was done>`. */
export type AuditAction = { [Target in TargetType]: `${Target}.${Verbs[Target][number]}` }[TargetType];

export const auditActions = Object.entries(verbs).flatMap(([target, done]) =>
  done.map((verb) => `${target}.${verb}`),
) as AuditAction[];

export const AuditAction = Type.Enum(auditActions, {
  title: 'AuditAction',
  description:
    'What was done to what. `connection.disclosed`, `destination.disclosed`: its credentials were shown; `connection.sampled`: one record of the account was shown, as a config would have it delivered; `project.exported`: all of them left, sealed with a passphrase.',
});

export const AuditEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    time: Type.String({ format: 'date-time' }),
    action: AuditAction,
    target: Type.Object({ type: Type.String(), id: Type.String() }, closed),
    actor: Type.Object(
      {
        kind: Type.Enum(['apiKey', 'jwt', 'person', 'operator', 'service'], {
          description:
            '`jwt`: a front-end token; `person`: somebody who is signed in; `operator`: somebody with a shell on the server; `service`: nobody asked.',
        }),
        keyId: Type.Optional(
          Type.String({
            description:
              'The id of the API key, the `kid` of the token, or of one that svc made the id of the key or link behind it.',
          }),
        ),
        groupRef: Type.Optional(Type.String()),
        consumerRef: Type.Optional(Type.String()),
        personId: Type.Optional(Type.String({ format: 'uuid' })),
        email: Type.Optional(Type.String({ description: 'Of the person, at that time.' })),
      },
      closed,
    ),
    address: Type.Optional(Type.String({ description: 'From where the request came.' })),
    requestId: Type.Optional(Type.String()),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'What was changed, by name; never a secret.',
      }),
    ),
  },
  { ...closed, title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditQuery = Type.Object(
  {
    action: Type.Optional(AuditAction),
    targetId: Type.Optional(
      Type.String({ maxLength: 255, description: 'Done to this; a UUID in any case.' }),
    ),
    keyId: Type.Optional(Type.String({ maxLength: 255, description: 'Done with this key.' })),
    groupRef: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'Done by this group, or to it: to what `details` says is of the group, such as its connections and installations.',
      }),
    ),
    personId: Type.Optional(Type.String({ format: 'uuid', description: 'Done by this person.' })),
    from: Type.Optional(Type.String({ format: 'date-time' })),
    to: Type.Optional(Type.String({ format: 'date-time', description: 'Before this moment.' })),
    ...pageQuery,
  },
  closed,
);
export type AuditQuery = Static<typeof AuditQuery>;

export const AuditExportQuery = Type.Object(
  {
    format: Type.Enum(['ndjson', 'csv'], {
      default: 'ndjson',
      description: '`csv`: what a spreadsheet would take for a formula has an apostrophe before it.',
    }),
    from: AuditQuery.properties.from,
    to: AuditQuery.properties.to,
  },
  closed,
);
export type AuditExportQuery = Static<typeof AuditExportQuery>;

export const AuditPage = pageOf(AuditEntry);
export type AuditPage = Static<typeof AuditPage>;
