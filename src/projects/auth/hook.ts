import type { FastifyReply, FastifyRequest } from 'fastify';
import { actAs } from '../../events/index.ts';
import type { Projects } from '../projects.ts';
import { refuseConfined, type Principal, type RouteScopes } from './principal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call, beside the scopes `full` and `develop`. Absent means these only. */
    scopes?: RouteScopes;
    /** Concerns the whole project: a caller confined to a group is refused. */
    projectWide?: true;
    /** A page asks for it by itself, again and again. */
    unattended?: true;
  }
  interface FastifyRequest {
    /** Set by the authentication hook on every route that is not public. */
    principal: Principal;
  }
}

/** A preHandler hook: the caller is the actor of everything that the request does. */
export function actorHook(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { principal } = request as { principal?: Principal };
  if (!principal) return done();
  const { kind, keyId, groupRef, consumerRef, person } = principal;
  const whose = {
    ...(groupRef === undefined ? {} : { groupRef }),
    ...(consumerRef === undefined ? {} : { consumerRef }),
  };
  const who = person ? { personId: person.id, email: person.email } : { keyId };
  actAs({ kind, ...who, ...whose, address: request.address, requestId: request.id }, done);
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/** Admits a caller by the scopes that the matched route declares. Throws the refusal. */
async function admitCaller(projects: Projects, request: FastifyRequest): Promise<void> {
  if (isPublic(request)) return;
  const principal = await identify(projects, request);
  const admitted = projects.admit(principal, 'management');
  if (admitted) await admitted;
  assertReached(projects, request, principal);
}

/** An onRequest hook that admits the caller, without waiting where the key is remembered. */
export function authenticationHook(projects: Projects): Hook {
  return (request, _reply, done) => {
    if (isPublic(request)) return done();
    const principal = peek(projects, request);
    if (!principal) return void told(admitCaller(projects, request), done);
    const reach = (): void => assertReached(projects, request, principal);
    const admitted = projects.admit(principal, 'management');
    if (admitted) return void told(admitted.then(reach), done);
    reach();
    done();
  };
}

/** Lets in once more who was admitted before, by the same caches; the rate limit counted them then. Throws the refusal. */
export async function readmitCaller(projects: Projects, request: FastifyRequest): Promise<void> {
  const principal = peek(projects, request) ?? (await identify(projects, request));
  assertReached(projects, request, principal);
}

/**
 * A preValidation hook: a body may take minutes, and the right to act may be withdrawn meanwhile. Whoever sent one is asked who they are
 * once more, without waiting where the key is remembered.
 */
export function readmissionHook(projects: Projects): Hook {
  return (request, _reply, done) => {
    if (isPublic(request) || !hasBody(request)) return done();
    const known = peek(projects, request);
    if (!known) return void told(readmitCaller(projects, request), done);
    assertReached(projects, request, known);
    done();
  };
}

/** Tells the framework how work ended that had to be waited for. */
async function told(work: Promise<void>, done: (error?: Error) => void): Promise<void> {
  let fault: Error | undefined;
  await work.catch((error: Error) => (fault = error));
  done(fault);
}

/** Who holds the request's API key, without waiting; undefined means: {@link identify}. */
function peek(projects: Projects, { headers }: FastifyRequest): Principal | undefined {
  const { 'x-api-key': key } = headers;
  return typeof key === 'string' ? projects.peekPrincipal(key) : undefined;
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function isPublic({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.scopes === 'public';
}

function identify(projects: Projects, request: FastifyRequest): Promise<Principal> {
  const { headers, method, params, routeOptions } = request;
  const { projectIdOrName: project } = Object(params) as { projectIdOrName?: string };
  const from = { surface: 'management', address: () => request.address } as const;
  const isUnattended = routeOptions.config.unattended === true || headers['svc-unattended'] !== undefined;
  return projects.authenticate(headers, from, { headers, method, project, isUnattended });
}

function assertReached(projects: Projects, request: FastifyRequest, principal: Principal): void {
  const { scopes = [], projectWide } = request.routeOptions.config;
  projects.authorize(principal, scopes, request.method);
  if (projectWide === true) refuseConfined(principal);
  request.principal = principal;
  request.isKnown = true;
}
