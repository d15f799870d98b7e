import type { Server } from 'node:http';
import cors from '@fastify/cors';
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
import { mayBeDone, noting, type Deeds } from '../db/deeds.ts';
import { sqlState } from '../db/faults.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { Problem, problem, refuse, renderProblem, type Issue } from '../problem.ts';
import { withoutSecretsOf } from './hidden.ts';
import { isForAnybody, otherTypes, readJsonBody } from './body.ts';
import { callerAddress, parseTrustedProxies } from './caller-address.ts';
import { drainingResponse, rememberConnections } from './draining.ts';
import { answerClientFaults, answerUnreadable } from './client-faults.ts';
import { rulesFor, type CrossOrigin } from './cross-origin.ts';
import { createMethods, type Methods } from './methods.ts';
import { nulIssues } from './nul.ts';
import { bindPageTokens, type ListOwner } from './page-tokens.ts';
import { tellFault } from './problem-answer.ts';
import { patience, requestWithinMs } from './request-time.ts';
import { headRefusal, queryRefusal } from './request-head.ts';
import { buildSerializer } from './serializer.ts';
import { issuesOf, validatorCompiler } from './validation.ts';

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
  /** Of a route that does not say more. */
  bodyLimitBytes: number;
  /** Browsers are told to come back by HTTPS only. */
  isHttps?: boolean;
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** Absent: no page of another origin is let in. */
  crossOrigin?: CrossOrigin;
  /** What helps who asked for a path without a route; absent or undefined: the remedy of the problem. */
  remedyOfUnknownPath?: (request: FastifyRequest) => string | undefined;
  /** Absent: a path without a route is a problem. */
  unknownPath?: UnknownPath;
  /** Absent: nobody. */
  listOwner?: ListOwner;
}

/** Requests to paths without a route that are answered by something else than a problem. */
export interface UnknownPath {
  isTaken(request: FastifyRequest): boolean;
  answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the caller, behind the trusted proxies; `ip` is that of the socket. */
    address: string;
    /** Members of the request's log line besides the route. */
    about?: Record<string, unknown>;
    /** Of one that may change something. */
    deeds?: Deeds;
  }
  interface FastifyContextConfig {
    /** Its own answers say what may be done while the database is away. */
    tellsDoubt?: true;
  }
}

/** Of a path, in characters. */
const longestSegment = 512;
const yearSeconds = 365 * 24 * 3600;
/** Private, not stored, and no page to a browser, unless the route says otherwise. */
const onEveryAnswer = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** A server that takes JSON, checks it by schema and answers every failure as a problem (RFC 9457). */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const logger: FastifyBaseLogger = options.log;
  const headers = {
    ...onEveryAnswer,
    ...(options.isHttps ? { 'strict-transport-security': `max-age=${yearSeconds}` } : {}),
  };
  const always = Object.entries(headers);
  const made: { listener?: Server } = {};
  const addressOf = addressBehind(options.trustedProxies);
  const server = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger for each request would cost a redaction each time. Log lines name the request instead.
    childLoggerFactory: (parent) => parent,
    // A hook of ours answers with a problem.
    http: {
      ...patience,
      requireHostHeader: false,
      ServerResponse: drainingResponse(() => made.listener?.listening !== false),
    },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, { headers, log: options.log }),
    frameworkErrors: (error, request, reply) => {
      const answer = reply.headers({ ...headers, 'x-request-id': request.id });
      tellUnrouted(options.log, request, answer, addressOf(request));
      answerUnrouted(options, request, answer, error);
    },
    bodyLimit: options.bodyLimitBytes,
    genReqId: () => newId(),
    requestIdHeader: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: longestSegment },
    requestTimeout: requestWithinMs,
    schemaController: { compilersFactory: { buildSerializer } },
    // A hook of ours answers with a problem while stopping.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  made.listener = server.server;
  rememberConnections(server.server);
  answerClientFaults(server.server, { headers, log: options.log });
  knowCallers(server, addressOf);
  server.setValidatorCompiler(validatorCompiler);
  server.removeContentTypeParser(['application/json', 'text/plain']);
  server.addContentTypeParser('application/json', readJsonBody);
  server.setErrorHandler((error, request, reply) => sendProblem(request, reply, toProblem(error, request)));
  if (options.crossOrigin) server.register(cors, rulesFor(options.crossOrigin));
  refuseUnknownPaths(server, options);
  closeQueries(server);
  shortenBodiesOfAnybody(server);
  bindPageTokens(server, options.listOwner);
  server.addHook('preHandler', (request, _reply, done) => {
    if (request.isLarge) setImmediate(done);
    else done();
  });
  server.addHook('preHandler', noteDeeds);
  server.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id);
    for (const [name, value] of always) if (!reply.hasHeader(name)) reply.header(name, value);
    done();
  });
  return server;
}

function addressBehind(proxies: readonly string[]): (request: FastifyRequest) => string {
  const isTrusted = parseTrustedProxies(proxies);
  return ({ raw }) => callerAddress(raw.socket, raw.headers['x-forwarded-for'], isTrusted);
}

function knowCallers(server: HttpServer, addressOf: (request: FastifyRequest) => string): void {
  server.decorateRequest('address', {
    getter(this: FastifyRequest) {
      return addressOf(this);
    },
  });
}

/** Before any other hook of the handler; who the caller is, is known by then. */
function noteDeeds(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { method, routeOptions } = request;
  if (method === 'GET' || method === 'HEAD' || routeOptions.config.tellsDoubt) return done();
  request.deeds = { isDone: false };
  noting(request.deeds, done);
}

/** The line of a request that the router refused: no hook runs for it. */
function tellUnrouted(log: Logger, request: FastifyRequest, reply: FastifyReply, ip: string): void {
  const { id: requestId, method } = request;
  reply.raw.once('finish', () => {
    const { statusCode: status } = reply;
    log.info({ requestId, method, route: 'none', status, ip, ...request.about }, 'refused');
  });
}

/** Answers a request that the router refused. Nobody hears of what is thrown here. */
function answerUnrouted(
  { log, unknownPath }: HttpServerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Error,
): void {
  pageOrProblem(request, reply, refusal, unknownPath).catch((error: unknown) => {
    log.error({ err: error, requestId: request.id }, 'a request without a route was not answered');
    reply.raw.destroy();
  });
}

async function pageOrProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Error,
  unknownPath: UnknownPath | undefined,
): Promise<void> {
  try {
    // A path that cannot be read has no route either.
    if (!unknownPath?.isTaken(request)) throw refusal;
    await unknownPath.answer(request, reply);
  } catch (error) {
    sendProblem(request, reply, toProblem(error));
  }
}

const noQuery = { type: 'object', properties: {}, additionalProperties: false } as const;

/** An operation that says nothing of its query takes none: what is meant for the body (`dryRun`) would be lost there. */
function closeQueries(server: HttpServer): void {
  server.addHook('onRoute', ({ schema }) => {
    if (schema && 'operationId' in schema) schema.querystring ??= noQuery;
  });
}

/** Of a request whose caller is not known: addresses, passwords and links. */
const bodyBytesOfAnybody = 16 * 1024;

function shortenBodiesOfAnybody(server: HttpServer): void {
  server.addHook('onRoute', (route) => {
    if (isForAnybody(route))
      route.bodyLimit = Math.min(route.bodyLimit ?? bodyBytesOfAnybody, bodyBytesOfAnybody);
  });
}

/** A path without a route is a problem, unless something else answers it. */
function refuseUnknownPaths(
  server: HttpServer,
  { unknownPath, remedyOfUnknownPath }: HttpServerOptions,
): void {
  const methods = createMethods();
  server.addHook('onRoute', (route) => methods.note(route));
  const routeNotFound = (request: FastifyRequest): Problem =>
    unknownRoute(request, methods, remedyOfUnknownPath?.(request));
  // After the CORS headers, so that browsers may read the refusal.
  server.after(() =>
    server.addHook('onRequest', (request, _reply, done) =>
      done(
        headRefusal(request) ??
          (isUnrouted(request) && !unknownPath?.isTaken(request)
            ? routeNotFound(request)
            : queryRefusal(request)),
      ),
    ),
  );
  server.setNotFoundHandler((request, reply) => {
    if (unknownPath?.isTaken(request)) return unknownPath.answer(request, reply);
    throw routeNotFound(request);
  });
}

/** No route of ours takes OPTIONS, and a preflight that is let in was answered before; the route of the CORS plugin would read a body. */
function isUnrouted({ is404, method }: FastifyRequest): boolean {
  return is404 || method === 'OPTIONS';
}

function unknownRoute(
  { method, url }: Pick<FastifyRequest, 'method' | 'url'>,
  methods: Methods,
  remedy: string | undefined,
): Problem {
  const [path = ''] = url.split('?', 1);
  const helps = remedy ?? methods.remedyFor(method, path);
  const detail = `There is no ${method} ${path}.`;
  return problem('route-not-found', { detail, ...(helps === undefined ? {} : { remedy: helps }) });
}

/** Whatever was thrown, as the problem the caller sees. */
export function toProblem(error: unknown, request?: FastifyRequest): Problem {
  if (error instanceof Problem) return mayBeDone(error, request?.deeds) ? openChange(error, request) : error;
  const found = issuesOf(error);
  if (found) return refuse(found.issues.map(misplacedIn(request)), 'invalid-request', found.more);
  // PostgreSQL stores every character but one.
  if (['22021', '22P05'].includes(sqlState(error) ?? '')) {
    const issues = request ? nulIssues(request) : [];
    if (issues.length > 0) return refuse(issues);
    return problem('invalid-request', {
      detail: 'A text holds the character U+0000, which cannot be kept.',
      cause: error,
    });
  }
  return (
    problemOfFramework(error, request) ??
    // Something may have been done before the error.
    problem('internal', {
      detail: 'An unexpected fault of this service.',
      retryable: false,
      cause: error,
    })
  );
}

/** Those whose second request has the effect of the first (RFC 9110, 9.2.2). */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

/** A change of which the database did not say whether it made it, or went away before all of it was made. */
function openChange({ cause }: Problem, request?: FastifyRequest): Problem {
  const isOnce = !idempotent.has(request?.method ?? '');
  return problem('database-unavailable', {
    detail: request?.deeds?.isDone
      ? 'This was done, or a part of it: the database went away meanwhile.'
      : 'It is not known whether this was done: the database did not say in time.',
    remedy: isOnce
      ? 'Once other changes are made again, wait a minute and look what was done of it, before you send it again.'
      : 'Send it again in a few seconds: whether it was done once or twice is the same.',
    retryable: !isOnce,
    cause,
  });
}

/** Says so where a parameter of the query is a property of the body, and where either is a header. */
function misplacedIn(request?: FastifyRequest): (issue: Issue) => Issue {
  const { body, headers } = (request?.routeOptions.schema ?? {}) as Record<string, { properties?: object }>;
  const inBody = (name: string): boolean => Object.hasOwn(body?.properties ?? {}, name);
  const bare = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');
  return (issue) => {
    if (issue.in === 'query' && inBody(issue.name))
      return { ...issue, detail: 'belongs in the body, not in the query' };
    if (issue.in === 'header' || inBody(issue.name)) return issue;
    const header = Object.keys(headers?.properties ?? {}).find((one) => bare(one) === bare(issue.name));
    return header === undefined ? issue : { ...issue, detail: `belongs in the header \`${header}\`` };
  };
}

function mediaTypeOf(request?: FastifyRequest): { detail?: string; remedy?: string } {
  const type = request?.headers['content-type'];
  if (!request) return {};
  const came =
    type === undefined ? 'The body came without a Content-Type' : `The body came as ${type.slice(0, 100)}`;
  return { detail: `${came}, which is not taken here.`, ...otherTypes(request) };
}

/** Problems for what the framework refuses: by its error code, else by status. */
function problemOfFramework(error: unknown, request?: FastifyRequest): Problem | undefined {
  const { code, statusCode, message } = Object(error) as {
    code?: string;
    statusCode?: number;
    message?: string;
  };
  switch (code ?? '') {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('body-too-large', { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problem('unsupported-media-type', { ...mediaTypeOf(request), cause: error });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return problem('invalid-request', {
        detail: `A segment of the path is longer than ${longestSegment} characters.`,
        cause: error,
      });
    case 'FST_ERR_BAD_URL':
      return problem('invalid-request', { detail: 'The path is not a valid URL path.', cause: error });
    default:
      if (statusCode === undefined || statusCode < 400 || statusCode > 499) return undefined;
      return problem('malformed-request', { detail: message ?? 'The request is not valid.', cause: error });
  }
}

/** The body of a problem, without secrets of the request's URL. */
export function problemBody({ id, url }: FastifyRequest, answer: Problem): Record<string, unknown> {
  return withoutSecretsOf(renderProblem(answer, id), url);
}

/** Answers with a problem; faults of ours are logged with their cause. `body`: if it was rendered before. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Problem,
  body: unknown = problemBody(request, answer),
): FastifyReply {
  tellFault(request.log, answer, { requestId: request.id });
  const { operationId } = answer.details.extra ?? {};
  request.about = {
    ...request.about,
    ...(typeof operationId === 'string' ? { operationId } : {}),
    problem: answer.code,
  };
  if (answer.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer');
  // The framework says `Connection: close` where it refuses a body. A caller who still sends would lose the answer, and requests that
  // stand behind would be done without one. The rest of the body is read and dropped.
  reply.removeHeader('connection');
  const retryAfter =
    answer.details.retryAfterSeconds ?? (answer.status === 503 && answer.retryable ? 2 : undefined);
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
