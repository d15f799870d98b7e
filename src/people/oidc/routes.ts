import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import { visitorOf } from '../visitor.ts';
import { oidcPath, type SignInElsewhere, type Step } from './sign-in.ts';

const text = Type.Optional(Type.String());
const tags = ['people'];
const config = { scopes: 'public' as const };

/** Where a browser begins to sign in elsewhere, and comes back to; mounted without a prefix, open to everybody. */
export function signInElsewhereRoutes(elsewhere: SignInElsewhere): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: `${oidcPath}/start`,
      schema: {
        operationId: 'oidcStart',
        summary: 'Sign in at the OpenID provider',
        description: 'Marks the browser with a cookie and sends it to the provider.',
        tags,
        querystring: Type.Object(
          {
            returnTo: Type.Optional(
              Type.String({ maxLength: 2_000, description: 'A path of this service, for afterwards.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          '3xx': Type.Null({ description: 'To the provider, or back to the page of signing in.' }),
        },
      },
      config,
      handler: async (request, reply) =>
        leave(reply, await elsewhere.begin(request.query.returnTo, visitorOf(request))),
    });
    server.route({
      method: 'GET',
      url: oidcPath,
      schema: {
        operationId: 'oidcCallback',
        summary: 'The redirect URI of the client at the OpenID provider',
        description:
          'Sets the cookie of the session. Where nobody is signed in by it, the page of signing in says why.',
        tags,
        // Providers add parameters of their own.
        querystring: Type.Object({
          state: text,
          code: text,
          error: text,
          error_description: text,
          iss: text,
        }),
        response: { '3xx': Type.Null({ description: 'To a page of this service.' }) },
      },
      config,
      handler: async (request, reply) => {
        const step = await elsewhere.end(queryOf(request), request.headers.cookie, visitorOf(request));
        return leave(reply, step);
      },
    });
  };
}

/** As it came: what stands there twice is for the library to refuse. */
function queryOf({ url }: FastifyRequest): URLSearchParams {
  return new URL(url, 'http://svc').searchParams;
}

function leave(reply: FastifyReply, { location, cookies }: Step): FastifyReply {
  reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  return reply.redirect(location, 302);
}
