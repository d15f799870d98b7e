import { createHash } from 'node:crypto';
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { sqlState } from '../db/database.ts';
import { newId } from '../ids.ts';
import { parseJson } from '../json.ts';
import type { Logger } from '../log.ts';
import { Problem, problem, refuse, renderProblem } from '../problem.ts';
import { withoutSecretsOf } from './hidden.ts';
import { issuesOf, validatorCompiler } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body as sent; for requests with an `Idempotency-Key` only. */
    bodyDigest?: Buffer;
  }
}

/** A Fastify instance whose handlers take their types from the TypeBox schemas of the route. */
export type HttpServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export interface HttpServerOptions {
  log: Logger;
  bodyLimitBytes: number;
  /** Addresses of proxies whose X-Forwarded-* headers are believed. */
  trustedProxies: string[];
}

/** A server that takes JSON, checks it by schema and answers every failure as a problem (RFC 9457). */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const logger: FastifyBaseLogger = options.log;
  const server = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // One for every request would be built, and redacted, before there is anything to say; what is said names the request.
    childLoggerFactory: (parent) => parent,
    bodyLimit: options.bodyLimitBytes,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    genReqId: () => newId(),
    requestIdHeader: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 512 },
    requestTimeout: 120_000,
    // Our own hook answers while stopping, with a problem.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  server.setValidatorCompiler(validatorCompiler);
  server.removeContentTypeParser(['application/json', 'text/plain']);
  server.addContentTypeParser('application/json', { parseAs: 'string' }, parseBody);
  server.setErrorHandler((error, request, reply) => sendProblem(request, reply, toProblem(error)));
  server.setNotFoundHandler((request, reply) =>
    sendProblem(
      request,
      reply,
      problem('route-not-found', { detail: `There is no ${request.method} ${pathOf(request)}.` }),
    ),
  );
  server.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  return server;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url;
}

async function parseBody(request: FastifyRequest, text: string): Promise<unknown> {
  if (request.headers['idempotency-key'] !== undefined) {
    request.bodyDigest = createHash('sha256').update(text).digest();
  }
  if (text.trim() === '') {
    if (request.method === 'DELETE') return undefined;
    throw problem('malformed-json', { detail: 'The body is empty.' });
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw problem('malformed-json', {
      detail: `The body is not JSON: ${(error as Error).message}`,
      cause: error,
    });
  }
  // A key may be written with escapes, so that its text does not show it.
  if (/__proto__|\\u00/.test(text) && hasProtoKey(value)) {
    throw problem('malformed-json', { detail: 'The key "__proto__" is not accepted.' });
  }
  return value;
}

/** Without recursion: the nesting of a body has no limit yet. */
function hasProtoKey(value: unknown): boolean {
  const left = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    for (const child of Object.values(next))
      if (typeof child === 'object' && child !== null) left.push(child);
  }
  return false;
}

/** Whatever was thrown, as the problem the caller sees. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const issues = issuesOf(error);
  if (issues) return refuse(issues);
  // PostgreSQL stores every character but one.
  if (sqlState(error) === '22021') {
    return problem('invalid-request', {
      detail: 'A text holds the character U+0000, which cannot be kept.',
      cause: error,
    });
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('body-too-large', { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problem('unsupported-media-type', { cause: error });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('malformed-json', { cause: error });
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_BAD_URL':
      return problem('invalid-request', { detail: 'The path is not a valid URL path.', cause: error });
    default:
      return problem('internal', { detail: 'An unexpected fault of this service.', cause: error });
  }
}

/** Answers with a problem; faults of ours are logged with their cause, refusals are not. `body`: if it was rendered before. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Problem,
  body: unknown = withoutSecretsOf(renderProblem(answer, request.id), request.url),
): FastifyReply {
  if (answer.status >= 500) {
    request.log.error(
      { err: answer.cause ?? answer, requestId: request.id, problem: answer.code },
      answer.message,
    );
  }
  if (answer.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer');
  // Closing under a caller who still sends would take the answer from them: the rest of the body is read and dropped.
  if (answer.code === 'body-too-large') reply.removeHeader('connection');
  const retryAfter = answer.details.retryAfterSeconds ?? (answer.status === 503 ? 2 : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(retryAfter)));
  return sendProblemBody(reply, answer.status, body);
}

/** Sends a problem that was rendered before. */
export function sendProblemBody(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body);
}
