import { Type } from 'typebox';
import type { HttpServer } from '../kit/http/server.ts';
import type { Connections } from './connections.ts';
import type { FlowEnd } from './oauth/finish.ts';
import { popupPage, returnTo, type PopupMessage } from './oauth/page.ts';

const text = Type.Optional(Type.String());

/** Where providers send the browser back to; mounted without a prefix, open to everybody. */
export function callbackRoutes(connections: Connections): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/callbacks/v1/oauth',
      schema: {
        operationId: 'oauthCallback',
        summary: 'The redirect URI of every OAuth client',
        tags: ['connections'],
        // Providers add parameters of their own.
        querystring: Type.Object({ state: text, code: text, error: text, error_description: text }),
        response: {
          '2xx': {
            description: 'A page that tells its opener the outcome and closes itself.',
            content: { 'text/html': { schema: Type.String() } },
          },
          '3xx': Type.Null({ description: 'To the return URL, with `connectionId` or `error`.' }),
          '4xx': {
            description: 'The page of a flow that ended without a connection.',
            content: { 'text/html': { schema: Type.String() } },
          },
        },
      },
      config: { scopes: 'public' },
      handler: async (request, reply) => {
        const end = await connections.finishOAuth(request.query);
        const message = messageOf(end);
        if (end.returnUrl !== undefined) {
          const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
          return reply.headers(headers).redirect(returnTo(end.returnUrl, message), 302);
        }
        const { html, headers } = popupPage(message);
        return reply
          .code('error' in end ? end.status : 200)
          .headers(headers)
          .send(html);
      },
    });
  };
}

function messageOf(end: FlowEnd): PopupMessage {
  return 'error' in end
    ? { eventType: 'AUTHORIZATION_FAILED', data: { error: end.error } }
    : { eventType: 'AUTHORIZATION_SUCCEEDED', data: { connection: end.connectionId } };
}
