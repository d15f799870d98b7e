import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import type { Opened } from './begin.ts';
import { startPath } from './browser.ts';
import type { FlowEnd } from './finish.ts';
import { flowPage, returnTo, type PageOwner, type PopupMessage } from './page.ts';
import type { CallbackQuery } from './redirect.ts';

const text = Type.Optional(Type.String());

const page = (description: string) => ({
  description,
  content: { 'text/html': { schema: Type.String({ title: 'BrowserPage' }) } },
});

/** What the routes need: a flow that is opened, and one that is ended. */
interface Flows {
  openOAuth(state: string | undefined, cookies: string | undefined): Promise<Opened | FlowEnd>;
  finishOAuth(query: CallbackQuery, cookies: string | undefined): Promise<FlowEnd>;
  /** Whose page tells how a flow of the project ended, and who hears it. */
  pageOwnerOf(projectId: string): Promise<PageOwner>;
}

/** Where browsers open the link of a flow, and where providers send them back to; mounted without a prefix, open to everybody. */
export function callbackRoutes(flows: Flows): (server: HttpServer) => Promise<void> {
  return async (server) => {
    startRoute(server, flows);
    endRoute(server, flows);
  };
}

/** A person looks at the answer: a query that names something twice is told by a page, too, as one of no link. */
const attachValidation = true;

function startRoute(server: HttpServer, flows: Flows): void {
  server.route({
    method: 'GET',
    url: startPath,
    attachValidation,
    // What looks at a link without opening it takes it from nobody.
    exposeHeadRoute: false,
    schema: {
      operationId: 'oauthStart',
      summary: 'The link that connects an account',
      description:
        'Marks the browser with a secret in a cookie and sends it to the provider. Only the browser that opened the link first can end the flow.',
      tags: ['connections'],
      querystring: Type.Object({ flow: text }),
      response: {
        '3xx': Type.Null({ description: 'To the provider.' }),
        '4xx': page(
          'The page of a link that was used, is not known, is over, or was opened by another browser before.',
        ),
      },
    },
    config: { scopes: 'public' },
    handler: async (request, reply) => {
      const { flow } = request.validationError ? {} : request.query;
      const opened = await flows.openOAuth(flow, request.headers.cookie);
      if (!('location' in opened)) return answer(flows, request, reply, opened);
      const headers = { ...leaving, 'set-cookie': opened.cookie };
      return reply.headers(headers).redirect(opened.location, 302);
    },
  });
}

function endRoute(server: HttpServer, flows: Flows): void {
  server.route({
    method: 'GET',
    url: '/callbacks/v1/oauth',
    attachValidation,
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
      const query = request.validationError ? {} : request.query;
      const end = await flows.finishOAuth(query, request.headers.cookie);
      return answer(flows, request, reply, end);
    },
  });
}

const leaving = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

async function answer(
  flows: Flows,
  request: FastifyRequest,
  reply: FastifyReply,
  end: FlowEnd,
): Promise<FastifyReply> {
  const message = messageOf(end);
  if (end.cookie !== undefined) void reply.header('set-cookie', end.cookie);
  if (end.returnUrl !== undefined)
    return reply.headers(leaving).redirect(returnTo(end.returnUrl, message), 302);
  const { html, headers } = flowPage({
    message,
    owner: await ownerOf(flows, request, end.projectId),
    provider: end.provider,
    wayBack: 'wayBack' in end ? end.wayBack : undefined,
    requestId: request.id,
    acceptLanguage: request.headers['accept-language'],
  });
  return reply
    .code('error' in end ? end.status : 200)
    .headers(headers)
    .send(html);
}

/** Without it the page is one of nobody: how the flow ended is told all the same. */
async function ownerOf(
  flows: Flows,
  { log }: FastifyRequest,
  projectId: string | undefined,
): Promise<PageOwner | undefined> {
  if (projectId === undefined) return undefined;
  return flows.pageOwnerOf(projectId).catch((cause: unknown) => {
    log.warn({ err: cause }, 'the look of a project could not be read');
    return undefined;
  });
}

function messageOf(end: FlowEnd): PopupMessage {
  return 'error' in end
    ? { eventType: 'AUTHORIZATION_FAILED', data: { error: end.error, reason: end.reason } }
    : { eventType: 'AUTHORIZATION_SUCCEEDED', data: { connection: end.connectionId } };
}
