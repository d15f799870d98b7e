import type { FastifyReply, FastifyRequest } from 'fastify';
import { actAs } from '../../events/index.ts';
import type { Projects } from '../projects.ts';
import { refuseConfined, type Principal, type RouteScopes } from './principal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call, beside scope `full`. Absent means `full` only. */
    scopes?: RouteScopes;
    /** Concerns the whole project: a caller confined to a group is refused. */
    projectWide?: true;
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
  const { kind, keyId, groupRef, consumerRef } = principal;
  const whose = {
    ...(groupRef === undefined ? {} : { groupRef }),
    ...(consumerRef === undefined ? {} : { consumerRef }),
  };
  actAs({ kind, keyId, ...whose, address: request.ip, requestId: request.id }, done);
}

/** An onRequest hook that admits a caller by the scopes that the matched route declares. */
export function authenticationHook(projects: Projects): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { scopes = [], projectWide } = request.routeOptions.config;
    if (scopes === 'public') return;
    const principal = await projects.authenticate(request.headers, {
      surface: 'management',
      address: () => request.ip,
    });
    const admitted = projects.admit(principal, 'management');
    if (admitted) await admitted;
    projects.authorize(principal, scopes);
    if (projectWide === true) refuseConfined(principal);
    request.principal = principal;
  };
}
