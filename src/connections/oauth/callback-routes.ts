import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import type { Opened } from './begin.ts';
import { startPath } from './browser.ts';
import { deadLink, type FlowEnd } from './finish.ts';
import { popupPage, returnTo, type PopupMessage } from './page.ts';
import type { CallbackQuery } from './redirect.ts';

const text = Type.Optional(Type.String());

const page = (description: string) => ({
  description,
  content: { 'text/html': { schema: Type.String({ title: 'BrowserPage' }) } },
});

/** What the routes need: a flow that is opened, and one that is ended. */
interface Flows {
  openOAuth(state: string): Promise<Opened | undefined>;
  finishOAuth(query: CallbackQuery, cookies: string | undefined): Promise<FlowEnd>;
  /** The origins of the pages that hear how a flow of the project ended. */
  hearersOf(projectId: string): Promise<string[]>;
}

/** Where browsers open the link of a flow, and where providers send them back to; mounted without a prefix, open to everybody. */
export function callbackRoutes(flows: Flows): (server: HttpServer) => Promise<void> {
  return async (server) => {
    startRoute(server, flows);
    endRoute(server, flows);
  };
}

function startRoute(server: HttpServer, flows: Flows): void {
  server.route({
    method: 'GET',
    url: startPath,
    schema: {
      operationId: 'oauthStart',
      summary: 'The link that connects an account',
      description:
        'Marks the browser with a cookie and sends it to the provider. Only the browser that opened the link can end the flow.',
      tags: ['connections'],
      querystring: Type.Object({ flow: text }),
      response: {
        '3xx': Type.Null({ description: 'To the provider.' }),
        '4xx': page('The page of a link that was used, is not known or is over.'),
      },
    },
    config: { scopes: 'public' },
    handler: async (request, reply) => {
      const { flow } = request.query;
      const opened = flow === undefined ? undefined : await flows.openOAuth(flow);
      if (!opened) return answer(reply, deadLink, []);
      const headers = { ...leaving, 'set-cookie': opened.cookie };
      return reply.headers(headers).redirect(opened.location, 302);
    },
  });
}

function endRoute(server: HttpServer, flows: Flows): void {
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
        '2xx': page('A page that tells its opener the outcome and closes itself.'),
        '3xx': Type.Null({ description: 'To the return URL, with `connectionId` or `error`.' }),
        '4xx': page('The page of a flow that ended without a connection.'),
      },
    },
    config: { scopes: 'public' },
    handler: async (request, reply) => {
      const end = await flows.finishOAuth(request.query, request.headers.cookie);
      return answer(reply, end, end.projectId === undefined ? [] : await flows.hearersOf(end.projectId));
    },
  });
}

const leaving = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

function answer(reply: FastifyReply, end: FlowEnd, hearers: readonly string[]): FastifyReply {
  const message = messageOf(end);
  if (end.cookie !== undefined) void reply.header('set-cookie', end.cookie);
  if (end.returnUrl !== undefined)
    return reply.headers(leaving).redirect(returnTo(end.returnUrl, message), 302);
  const { html, headers } = popupPage(message, hearers);
  return reply
    .code('error' in end ? end.status : 200)
    .headers(headers)
    .send(html);
}

function messageOf(end: FlowEnd): PopupMessage {
  return 'error' in end
    ? { eventType: 'AUTHORIZATION_FAILED', data: { error: end.error } }
    : { eventType: 'AUTHORIZATION_SUCCEEDED', data: { connection: end.connectionId } };
}
