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
    /** True when the caller was known before the whole request was there. */
    isAwaited?: true;
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

/** An onRequest hook that admits a caller by the scopes that the matched route declares. */
export function authenticationHook(projects: Projects): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { scopes = [] } = request.routeOptions.config;
    if (scopes === 'public') return;
    const principal = await identify(projects, request);
    if (!request.raw.complete) request.isAwaited = true;
    const admitted = projects.admit(principal, 'management');
    if (admitted) await admitted;
    assertReached(projects, request, principal);
  };
}

/**
 * A preValidation hook: a body may take minutes, and the right to act may be withdrawn meanwhile. Whoever had to be waited for is asked
 * who they are once more, by the same caches; the rate limit counted them.
 */
export function readmissionHook(projects: Projects): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    if (request.isAwaited) assertReached(projects, request, await identify(projects, request));
  };
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
}
