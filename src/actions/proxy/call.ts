import type { IncomingMessage, ServerResponse } from 'node:http';
import { reaches } from '../../events/index.ts';
import { callerAddress, type IsTrusted } from '../../kit/http/caller-address.ts';
import { toProblem } from '../../kit/http/server.ts';
import type { Ground } from '../../kit/ground.ts';
import { newId } from '../../kit/ids.ts';
import { Problem, problem } from '../../kit/problem.ts';
import { offersUpgrade } from '../../kit/http/upgrades.ts';
import { noteInSpan } from '../../kit/trace.ts';
import type { Closure, Connections, Credential } from '../../connections/index.ts';
import { noInstallation, notInstalled, type Installations, type Target } from '../../installations/index.ts';
import type { Projects } from '../../projects/index.ts';
import type { AnswerRules, ForwardEnd } from './answer.ts';
import { readCallBody, type CallBody, type OutgoingBody } from './body.ts';
import { forward } from './forward.ts';
import { proxyCalls } from './metrics.ts';
import type { ProxyLog } from './log-writer.ts';
import { answerProblem, problemOfFault, tellRefusal } from './refuse.ts';
import { misdirected, readProxyCall, type ProxyCall } from './request.ts';
import { quotaHeaders, throttleHeaders } from './throttle.ts';

export interface ProxyDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
  proxyLog: ProxyLog;
  /** Whose X-Forwarded-For is believed. */
  isTrusted: IsTrusted;
  /** How long a caller may neither read nor send, in milliseconds. */
  callerSilenceMs(): number;
}

/** One call on its way. */
interface Journey {
  deps: ProxyDeps;
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** Monotonic. */
  startedAt: number;
  /** When the provider's answer began; monotonic. */
  answeredAt: number | undefined;
  expectsContinue: boolean;
  call: ProxyCall;
  target: Target;
}

/** Takes one request from its first byte to the end of its answer. Never rejects. */
export async function proxyCall(
  deps: ProxyDeps,
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  // The request's own events report an error of the socket.
  request.on('error', ignore);
  response.on('error', ignore);
  response.sendDate = false;
  const requestId = newId();
  const startedAt = performance.now();
  // A body that was announced and not asked for may still come, so no other request can follow on this connection.
  if (expectsContinue) response.shouldKeepAlive = false;
  let journey: Journey | undefined;
  try {
    refuseMethod(request);
    const read = readProxyCall(request.url ?? '', request);
    if ('refusal' in read) {
      const { rawHeaders, url = '' } = request;
      throw misdirected(read.refusal, url, { rawHeaders, apiUrl: deps.ground.publicUrl });
    }
    const { call } = read;
    const target = await findTarget(deps, call, request, true);
    journey = {
      deps,
      request,
      response,
      requestId,
      startedAt,
      answeredAt: undefined,
      expectsContinue,
      call,
      target,
    };
    journey.target = await enabled(deps, call, target);
    if (!(await refuseThrottled(journey))) await send(journey);
  } catch (error) {
    refuse(deps, response, journey, toProblem(error), requestId);
  }
}

function refuse(
  deps: ProxyDeps,
  response: ServerResponse,
  journey: Journey | undefined,
  answer: Problem,
  requestId: string,
  extra: readonly string[] = [],
): void {
  answerProblem(deps.ground.log, response, answer, requestId, extra);
  if (journey) note(journey, answer.status, answer.code);
  else tellRefusal(deps.ground.log, answer, requestId);
}

function refuseMethod({ method, headers }: IncomingMessage): void {
  if (method === 'TRACE') throw problem('proxy-method-refused', { detail: 'The proxy does not pass TRACE.' });
  // Whoever offers another protocol accepts an answer in HTTP/1.1.
  if (offersUpgrade(headers) && /\bwebsocket\b/i.test(headers.upgrade ?? ''))
    throw problem('proxy-upgrade-refused', { detail: 'WebSockets do not pass through the proxy.' });
}

async function findTarget(
  deps: ProxyDeps,
  call: ProxyCall,
  request: IncomingMessage,
  isCounted: boolean,
): Promise<Target> {
  const principal =
    deps.projects.peekPrincipal(call.apiKey) ??
    (await deps.projects.authenticateKey(call.apiKey, {
      surface: 'proxy',
      address: () => callerAddress(request.socket, request.headers['x-forwarded-for'], deps.isTrusted),
    }));
  const admitted = isCounted ? deps.projects.admit(principal, 'proxy') : undefined;
  if (admitted) await admitted;
  deps.projects.authorize(principal, ['proxy']);
  const { selector, projectId } = call;
  if (principal.projectId !== projectId)
    throw problem('not-found', { detail: `There is no project ${projectId}.` });
  const target =
    deps.installations.peekTarget(projectId, selector) ??
    (await deps.installations.findTarget(projectId, selector));
  if (!target || !reaches(principal, target.groupRef)) {
    throw await targetRefusal(deps.projects, call);
  }
  return target;
}

/** Another group's installation is reported as not found. */
async function targetRefusal(projects: Projects, { projectId, selector }: ProxyCall): Promise<Problem> {
  if ('installationId' in selector) return noInstallation(selector.installationId);
  try {
    const { name } = await projects.getIntegration(projectId, selector.integration);
    return notInstalled(name, selector.groupRef);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not-found') throw error;
    return problem('installation-not-found', {
      detail: error.message,
      remedy: `Name an integration of the project in x-svc-integration-name: GET /v1/projects/${projectId}/integrations lists them.`,
    });
  }
}

/** A remembered installation never refuses: it may have been enabled meanwhile (docs/invariants.md, 22). */
async function enabled(deps: ProxyDeps, call: ProxyCall, target: Target): Promise<Target> {
  const refusal = disabled(target);
  if (!refusal) return target;
  const now = await deps.installations.refreshTarget(call.projectId, call.selector);
  if (!now || disabled(now)) throw refusal;
  return now;
}

function disabled(target: Target): Problem | undefined {
  if (!target.manifest.proxy?.enabled) {
    return problem('proxy-disabled', {
      detail: `The integration ${target.integrationName} does not enable the proxy.`,
    });
  }
  if (target.content.proxy?.enabled === false) {
    return problem('proxy-disabled', { detail: 'The config of this installation switches the proxy off.' });
  }
  return undefined;
}

/** In throttle mode a closed window answers for the provider (§7.5). */
async function refuseThrottled(journey: Journey): Promise<boolean> {
  const { deps, call, target, response, requestId } = journey;
  if (!call.throttle) return false;
  const { budget } = deps.connections;
  await budget.ready();
  const closure = budget.closed(target.projectId, target.connectionId);
  if (!closure) return false;
  const answer = problem('provider-rate-limited', {
    detail: 'The provider said that the limit of this connection is reached; the call was not passed on.',
    retryAfterSeconds: Math.max(1, Math.ceil((closure.until - budget.now()) / 1000)),
  });
  const quota = budget.quota(target.projectId, target.connectionId);
  const told = {
    ...(quota?.limit === undefined ? {} : { limit: quota.limit }),
    remaining: 0,
    resetAt: closure.until,
  };
  const extra = [...quotaHeaders(told, budget.now()), ...throttleHeaders(closure)];
  refuse(deps, response, journey, answer, requestId, extra);
  return true;
}

async function send(journey: Journey): Promise<void> {
  const { request } = journey;
  let credential = await credentialOf(journey);
  const isAwaited = !request.complete;
  const body = await readCallBody(request, isNative(journey));
  if (!body) return note(journey, undefined, undefined);
  try {
    if (isAwaited && Buffer.isBuffer(body.first)) credential = await readmit(journey);
    let end = await forwardWith(journey, credential, body.first, mayRepeat(request, body));
    if (end.kind === 'rejected') end = await repeat(journey, credential, body.again(), end);
    finish(journey, end);
  } finally {
    body.release();
  }
}

function credentialOf(journey: Journey): Promise<Credential> {
  const { connections } = journey.deps;
  const { projectId, connectionId } = journey.target;
  return whileItWaits(journey, connections.credential(projectId, connectionId));
}

/** A renewal takes its time, which is not the caller's: its silence begins with the call. */
async function whileItWaits<Result>({ deps, request }: Journey, work: Promise<Result>): Promise<Result> {
  const { socket } = request;
  socket.setTimeout(0);
  try {
    return await work;
  } finally {
    socket.setTimeout(deps.callerSilenceMs());
  }
}

/** A body that is kept may take minutes, and the right to send it may be withdrawn meanwhile; the rate limit has counted it. */
async function readmit(journey: Journey): Promise<Credential> {
  const { deps, call, request } = journey;
  journey.target = await enabled(deps, call, await findTarget(deps, call, request, false));
  return credentialOf(journey);
}

/** undici cannot send trailers, nor wait for 100 Continue. */
function isNative({ request, expectsContinue }: Journey): boolean {
  return expectsContinue || hasTrailers(request);
}

/** Only a body in chunks can have trailers, whatever is announced (RFC 9112, 7.1.2). */
function hasTrailers({ headers }: IncomingMessage): boolean {
  return headers.trailer !== undefined && headers['transfer-encoding'] !== undefined;
}

/** Trailers come after the body and are not kept; a body that was streamed may still turn out to be small. */
function mayRepeat(request: IncomingMessage, body: CallBody): boolean {
  return !hasTrailers(request) && (body.again() !== undefined || !Buffer.isBuffer(body.first));
}

function forwardWith(
  journey: Journey,
  credential: Credential,
  body: OutgoingBody,
  holdRejection: boolean,
): Promise<ForwardEnd> {
  const { deps, request, response, expectsContinue } = journey;
  const { egress, limits } = deps.ground;
  const { origin, headers, query } = credential;
  return forward(
    request,
    response,
    { origin, headers, query, body },
    {
      egress,
      idleMs: limits.providerCallMs,
      totalMs: limits.proxyCallMs,
      expectsContinue,
      isNative: isNative(journey),
      rules: rulesOf(journey, credential, holdRejection),
    },
  );
}

function rulesOf(journey: Journey, { query, generation }: Credential, holdRejection: boolean): AnswerRules {
  const { target, requestId, call } = journey;
  const { budget } = journey.deps.connections;
  const { projectId, connectionId, provider, groupRef } = target;
  return {
    requestId,
    holdRejection,
    isThrottled: call.throttle,
    quotaNames: budget.quotaNames(provider),
    query,
    onBegin: () => {
      journey.answeredAt ??= performance.now();
    },
    onQuota(quota) {
      budget.noteQuota(projectId, connectionId, quota, { generation });
      return quotaHeaders(quota, budget.now());
    },
    bodyDecides: (status) => budget.bodyDecides(provider, status),
    judge(answer) {
      const told = { groupRef, requestId, generation };
      const closure: Closure | undefined = budget.observe(projectId, connectionId, provider, answer, told);
      return closure ? throttleHeaders(closure) : [];
    },
  };
}

/** After a 401: one refresh and one more call where the body allows; otherwise the 401 is passed on as it came. */
async function repeat(
  journey: Journey,
  credential: Credential,
  body: Buffer | null | undefined,
  rejected: Extract<ForwardEnd, { kind: 'rejected' }>,
): Promise<ForwardEnd> {
  const { deps, target } = journey;
  const renewal = deps.connections.renew(target.projectId, target.connectionId, credential.generation);
  const renewed = await whileItWaits(journey, renewal).catch(() => undefined);
  if (!renewed || renewed.generation === credential.generation || body === undefined) {
    rejected.passOn();
    return { kind: 'answered', status: 401 };
  }
  return forwardWith(journey, renewed, body, false);
}

function finish(journey: Journey, end: ForwardEnd): void {
  const { deps, request, response, target, requestId } = journey;
  const { metrics } = deps.ground;
  if (end.kind === 'answered') {
    if (end.status < 400) deps.connections.markWorking(target.projectId, target.connectionId);
    proxyCalls.in(metrics).inc({ provider: target.provider, status: `${Math.floor(end.status / 100)}xx` });
    return note(journey, end.status, undefined);
  }
  proxyCalls.in(metrics).inc({ provider: target.provider, status: 'failed' });
  if (end.kind !== 'failed') return;
  const hasLeft = response.destroyed && !end.answerBegan;
  if (hasLeft || end.answerBegan) return note(journey, undefined, undefined);
  refuse(deps, response, journey, problemOfFault(end.error, request.method ?? ''), requestId);
}

/** Notes the call in the log, without waiting for it. */
function note(journey: Journey, status: number | undefined, code: string | undefined): void {
  const { deps, target, request, requestId, startedAt, answeredAt } = journey;
  noteInSpan({
    'svc.request_id': requestId,
    'svc.project_id': target.projectId,
    'http.request.method': request.method,
    'http.response.status_code': status,
    'svc.problem': code,
  });
  deps.proxyLog.note({
    target,
    id: requestId,
    method: request.method ?? '',
    path: request.url ?? '',
    status,
    problem: code,
    providerMs: answeredAt === undefined ? undefined : answeredAt - startedAt,
    totalMs: performance.now() - startedAt,
  });
}

function ignore(): void {}
