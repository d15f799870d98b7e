import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { shown } from '../document-schema.ts';
import { madeOnce } from './made-once.ts';
import { failing, refined, type Document } from './openapi-document.ts';
import type { Examples } from './openapi-examples.ts';
import { problemKindOf, type ProblemCode } from '../problem-catalogue.ts';
import type { HttpServer } from './server.ts';

/** The reference loads nothing from elsewhere and is framed by nobody. */
const docsPolicy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'";

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How it fails besides what its form tells: the statuses of these problems are in its description. */
    fails?: readonly ProblemCode[];
  }
}

/** The scopes that reach a route with this declaration, by its method. */
type Reaching = (declared: unknown, method: string) => readonly string[] | 'public' | 'signedIn';

interface Described {
  config?: unknown;
  method: string | string[];
}

/** Collects the schemas of all routes that follow into an OpenAPI 3.1 document, and serves it with a browsable reference. */
export async function documentApi(
  server: HttpServer,
  options: {
    version: string;
    about: string;
    publicUrl: string;
    sessionCookie: string;
    tags: readonly { name: string; description: string }[];
    /** By the names of the schemas. */
    examples: Examples;
    reaching: Reaching;
  },
): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version: options.version,
        description: options.about,
        contact: { name: 'The operator of this service', url: options.publicUrl },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: options.publicUrl }],
      tags: [...options.tags],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a front-end JWT (RS256).' },
          session: { type: 'apiKey', in: 'cookie', name: options.sessionCookie },
        },
      },
    },
    hideUntagged: true,
    transformObject: ({ openapiObject }: object & { openapiObject?: unknown }) =>
      refined(openapiObject as Document, options.examples),
    transform: ({ schema, url, route }) => ({
      url,
      schema: describeRoute(schema, route, options.reaching),
    }),
  });
  await server.register(swaggerUi, {
    routePrefix: '/docs/api',
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
  { config, method }: Described,
  reaching: Reaching,
): FastifySchema {
  const { scopes, projectWide, fails = [] } = (config ?? {}) as FastifyContextConfig & { scopes?: unknown };
  const reached = reaching(scopes, String(method));
  const description = [schema.description, whoOf(reached, projectWide)].filter(Boolean).join('\n\n');
  const bodies = { response: schema.response ?? {}, ...(schema.body ? { body: schema.body } : {}) };
  const security = securityOf(reached);
  const others = { [failing]: fails.map((code) => String(problemKindOf(code).status)) };
  return { ...schema, ...others, security, description, ...(asShown(bodies) as typeof bodies) };
}

function whoOf(reached: ReturnType<Reaching>, projectWide: true | undefined): string {
  if (reached === 'public') return 'Needs no credentials.';
  if (reached === 'signedIn') return 'Needs the session of a person who is signed in.';
  const confined = projectWide ? ' Not for credentials confined to a group.' : '';
  return `Scopes: ${reached.map((name) => `\`${name}\``).join(', ')}.${confined}`;
}

function securityOf(reached: ReturnType<Reaching>): Record<string, string[]>[] {
  if (reached === 'public') return [];
  return reached === 'signedIn' ? [{ session: [] }] : [{ apiKey: [] }, { bearer: [] }, { session: [] }];
}

/** A schema as the document shows it, and what is in it. */
function asShown(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asShown);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { [shown]: other } = schema as { [shown]?: object };
  if (other) return asShown(other);
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, asShown(value)]));
}
