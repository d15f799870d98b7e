import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isDatabaseAway } from '../../kit/db/database.ts';
import { EgressRefused } from '../../kit/http/egress.ts';
import { toProblem } from '../../kit/http/server.ts';
import { newId } from '../../kit/ids.ts';
import type { Ground } from '../../kit/ground.ts';
import { problem, renderProblem, type Problem } from '../../kit/problem.ts';
import type { Connections, Credential } from '../../connections/index.ts';
import type { Installations, Target } from '../../installations/index.ts';
import type { Projects } from '../../projects/index.ts';
import { readCallBody } from './body.ts';
import { forward, type ForwardEnd } from './forward.ts';
import { readProxyCall, type ProxyCall } from './request.ts';

export interface ProxyDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
}

/**
 * The proxy's own listener (specification 4.6): authenticate, find the target, replace the host, attach the credential,
 * stream both ways. Nothing is written to the database or the log before the provider is called.
 */
export function createProxyServer(deps: ProxyDeps): Server {
  const server = createServer({
    keepAliveTimeout: 65_000,
    headersTimeout: 30_000,
    requestTimeout: 0,
    highWaterMark: 64 * 1024,
  });
  server.on('request', (request, response) => {
    handle(deps, request, response).catch((error: unknown) =>
      answerProblem(deps, response, toProblem(error), newId()),
    );
  });
  server.on('upgrade', (_request, socket) => {
    socket.end(
      'HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\nX-Svc-Problem: proxy-request-invalid\r\n\r\n',
    );
  });
  return server;
}

async function handle(deps: ProxyDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // An error on a socket that the caller closed has nobody to be told to; the request's own events carry it.
  request.on('error', ignore);
  response.on('error', ignore);
  response.sendDate = false;
  const requestId = newId();
  const read = readProxyCall(request.url ?? '', request.rawHeaders);
  if ('refusal' in read) return answerProblem(deps, response, read.refusal, requestId);
  const target = await findTarget(deps, read.call);
  const credential = await deps.connections.credential(target.projectId, target.connectionId);
  const body = await readCallBody(request);
  if (!body) return;
  let end = await forwardWith(
    deps,
    request,
    response,
    credential,
    body.first,
    requestId,
    body.again() !== undefined,
  );
  if (end.kind === 'rejected')
    end = await repeat(deps, request, response, target, credential, body.again(), end, requestId);
  finish(deps, response, target, end, requestId);
}

async function findTarget(deps: ProxyDeps, call: ProxyCall): Promise<Target> {
  const principal =
    deps.projects.peekPrincipal(call.apiKey) ?? (await deps.projects.authenticateKey(call.apiKey));
  deps.projects.authorize(principal, ['proxy']);
  const { selector, projectId } = call;
  if (principal.projectId !== projectId)
    throw problem('not-found', { detail: `There is no project ${projectId}.` });
  const target =
    deps.installations.peekTarget(projectId, selector) ??
    (await deps.installations.findTarget(projectId, selector));
  if (!target || (principal.groupRef !== undefined && principal.groupRef !== target.groupRef)) {
    throw problem('installation-not-found', { detail: 'There is no such installation in this project.' });
  }
  if (!target.manifest.proxy?.enabled) {
    throw problem('proxy-disabled', {
      detail: `The integration ${target.integrationName} does not enable the proxy.`,
    });
  }
  if (target.content.proxy?.enabled === false) {
    throw problem('proxy-disabled', { detail: 'The config of this installation switches the proxy off.' });
  }
  return target;
}

function forwardWith(
  deps: ProxyDeps,
  request: IncomingMessage,
  response: ServerResponse,
  credential: Credential,
  body: Parameters<typeof forward>[2]['body'],
  requestId: string,
  holdRejection: boolean,
): Promise<ForwardEnd> {
  const { origin, headers, query } = credential;
  const { egress, limits } = deps.ground;
  return forward(
    request,
    response,
    { origin, headers, query, body },
    { egress, idleMs: limits.providerCallMs, requestId, holdRejection },
  );
}

/** After a 401: one refresh and one more call where the body allows; otherwise the 401 is passed on as it came. */
async function repeat(
  deps: ProxyDeps,
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  credential: Credential,
  body: Buffer | null | undefined,
  rejected: Extract<ForwardEnd, { kind: 'rejected' }>,
  requestId: string,
): Promise<ForwardEnd> {
  const renewed = await deps.connections
    .renew(target.projectId, target.connectionId, credential.generation)
    .catch(() => undefined);
  if (!renewed || renewed.generation === credential.generation || body === undefined) {
    rejected.passOn();
    return { kind: 'answered', status: 401 };
  }
  return forwardWith(deps, request, response, renewed, body, requestId, false);
}

function finish(
  deps: ProxyDeps,
  response: ServerResponse,
  target: Target,
  end: ForwardEnd,
  requestId: string,
): void {
  if (end.kind === 'answered') {
    if (end.status < 400) deps.connections.markWorking(target.projectId, target.connectionId);
    deps.ground.metrics.proxyCalls.inc({
      provider: target.provider,
      status: `${Math.floor(end.status / 100)}xx`,
    });
    return;
  }
  deps.ground.metrics.proxyCalls.inc({ provider: target.provider, status: 'failed' });
  if (end.kind === 'failed' && !end.answerBegan)
    answerProblem(deps, response, problemOf(end.error), requestId);
}

function problemOf(error: Error): Problem {
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof EgressRefused || error.cause instanceof EgressRefused)
    return problem('egress-refused', { detail: error.message, cause: error });
  if (/TIMEOUT/.test(code)) return problem('provider-timeout', { cause: error });
  return problem('provider-unreachable', {
    detail: `The provider cannot be reached: ${error.message}`,
    cause: error,
  });
}

function answerProblem(
  { ground }: ProxyDeps,
  response: ServerResponse,
  answer: Problem,
  requestId: string,
): void {
  if (answer.status >= 500) {
    ground.log.error(
      { err: answer.cause ?? answer, requestId, problem: answer.code, surface: 'proxy' },
      answer.message,
    );
  }
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = JSON.stringify(renderProblem(answer, requestId));
  const retryAfter = answer.details.retryAfterSeconds ?? (isDatabaseAway(answer) ? 2 : undefined);
  response.writeHead(answer.status, {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Svc-Problem': answer.code,
    'X-Svc-Request-Id': requestId,
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfter)) }),
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

function ignore(): void {}
