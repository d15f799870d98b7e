import { Type, type Static } from 'typebox';
import { pageOf, pageQuery } from '../../kit/paging-schema.ts';

const closed = { additionalProperties: false } as const;

export const ProxyLogQuery = Type.Object(
  {
    installationId: Type.Optional(Type.String({ description: 'Calls for this installation.' })),
    groupRef: Type.Optional(Type.String({ description: 'Calls for this group.' })),
    method: Type.Optional(Type.String({ maxLength: 40, description: 'Calls with this method.' })),
    path: Type.Optional(Type.String({ maxLength: 2_000, description: 'Calls whose path contains this.' })),
    status: Type.Optional(
      Type.String({ pattern: '^[1-5](?:\\d\\d|xx)$', description: 'A status, or a class such as `4xx`.' }),
    ),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'No calls before this time.' })),
    until: Type.Optional(Type.String({ format: 'date-time', description: 'Only calls before this time.' })),
    ...pageQuery,
  },
  closed,
);
export type ProxyLogQuery = Static<typeof ProxyLogQuery>;

export const ProxyLogEntry = Type.Object(
  {
    requestId: Type.String({ description: 'The `X-Svc-Request-Id` of the answer.' }),
    time: Type.String({ format: 'date-time' }),
    integrationId: Type.String(),
    installationId: Type.String(),
    connectionId: Type.String(),
    groupRef: Type.String(),
    provider: Type.String(),
    method: Type.String(),
    path: Type.String({ description: 'The path and the names of the query, without their values.' }),
    status: Type.Optional(Type.Integer({ description: 'Missing when the caller got no complete answer.' })),
    problem: Type.Optional(Type.String({ description: 'The code, when the answer was not the provider’s.' })),
    providerMs: Type.Optional(
      Type.Integer({ description: 'Until the provider’s answer began, in milliseconds.' }),
    ),
    totalMs: Type.Integer({ description: 'The whole call, in milliseconds.' }),
  },
  { ...closed, title: 'ProxyLogEntry' },
);
export type ProxyLogEntry = Static<typeof ProxyLogEntry>;

export const ProxyLogPage = pageOf(ProxyLogEntry);
export type ProxyLogPage = Static<typeof ProxyLogPage>;
