import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifySchema } from 'fastify';
import { Type, type TSchema } from 'typebox';
import { pagedMark, pageOf } from '../paging-schema.ts';
import { madeOnce } from './made-once.ts';
import type { HttpServer } from './server.ts';

/** The body of every refusal and failure: RFC 9457 with the members that docs/contract.md names. */
export const ProblemBody = Type.Object(
  {
    type: Type.String({ description: '`urn:svc:problem:<code>`' }),
    code: Type.String({ description: 'Stable; each has a page in docs/errors.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence the caller can act on.' }),
    remedy: Type.String(),
    requestId: Type.String(),
    retryable: Type.Boolean(),
    retryAfter: Type.Optional(Type.String({ format: 'date-time' })),
    issues: Type.Optional(
      Type.Array(
        Type.Object({
          in: Type.Enum(['body', 'header', 'path', 'query']),
          name: Type.String({ description: 'Dotted path with indexes.' }),
          detail: Type.String(),
          value: Type.Optional(Type.Unknown()),
          line: Type.Optional(Type.Integer()),
          column: Type.Optional(Type.Integer()),
        }),
      ),
    ),
    moreIssues: Type.Optional(
      Type.Integer({
        description: 'How many were found beyond those that `issues` tells, which are 20 at the most.',
      }),
    ),
    errors: Type.Optional(
      Type.Array(Type.Object({ message: Type.String() }), {
        description: 'On the write surface: `detail` once more, where the other answers of a write have it.',
      }),
    ),
    provider: Type.Optional(
      Type.Object({
        status: Type.Optional(Type.Integer()),
        code: Type.Optional(Type.String()),
        message: Type.Optional(Type.String()),
      }),
    ),
  },
  { additionalProperties: true },
);

/** The reference loads nothing from elsewhere and is framed by nobody. */
const docsPolicy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'self'";

/** Collects the schemas of all routes that follow into an OpenAPI 3.1 document, and serves it with a browsable reference. */
export async function documentApi(
  server: HttpServer,
  options: {
    version: string;
    publicUrl: string;
    /** The scopes that reach a route which declares these. */
    reaching: (declared: readonly string[]) => readonly string[];
  },
): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version: options.version,
        description: 'Read from and write to the SaaS accounts of your customers.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: options.publicUrl }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a front-end JWT (RS256).' },
        },
      },
    },
    hideUntagged: true,
    transform: ({ schema, url, route }) => ({
      url,
      schema: describeRoute(schema, route.config, options.reaching),
    }),
  });
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: docsPolicy,
    // Without null the page would ask a public validator about every address that is not local.
    uiConfig: { deepLinking: true, validatorUrl: null },
    theme: {
      title: 'svc: API reference',
      css: [{ filename: 'svc.css', content: '.swagger-ui .topbar { display: none }' }],
    },
  });
  const document = madeOnce(() => server.swagger());
  server.get('/openapi.json', { config: { scopes: 'public' }, schema: { hide: true } }, document);
}

/** The schema of a route with who may call it and how it fails. */
function describeRoute(
  schema: FastifySchema,
  config: unknown,
  reaching: (declared: readonly string[]) => readonly string[],
): FastifySchema {
  const { scopes, projectWide } = (config ?? {}) as {
    scopes?: readonly string[] | 'public';
    projectWide?: true;
  };
  const isPublic = scopes === 'public';
  const allowed = reaching(Array.isArray(scopes) ? scopes : []).map((name) => `\`${name}\``);
  const confined = projectWide ? ' Not for credentials confined to a group.' : '';
  const who = isPublic ? 'Needs no credentials.' : `Scopes: ${allowed.join(', ')}.${confined}`;
  const failed = {
    description: 'A problem (RFC 9457).',
    content: { 'application/problem+json': { schema: ProblemBody } },
  };
  const security: Record<string, string[]>[] = isPublic ? [] : [{ apiKey: [] }, { bearer: [] }];
  const description = [schema.description, who].filter(Boolean).join('\n\n');
  const response = { ...withPages(schema.response ?? {}), default: failed };
  return { ...schema, security, description, response };
}

/** A list that may be asked for by the page, as generators of clients read it. */
function withPages(response: object): Record<string, unknown> {
  const shown = Object.entries(response).map(([status, schema]: [string, Record<string, unknown>]) => {
    const { [pagedMark]: isPaged, ...list } = schema;
    return [status, isPaged ? { anyOf: [list, pageOf(list['items'] as TSchema)] } : schema];
  });
  return Object.fromEntries(shown) as Record<string, unknown>;
}
