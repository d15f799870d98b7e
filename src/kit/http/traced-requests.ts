import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { HttpServer } from './server.ts';
import { runIn, startSpan, type Attributes, type Span } from '../trace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span?: Span | undefined;
  }
}

/** The trace that a caller is part of; without one the request begins its own. */
export function callersTrace({ traceparent }: IncomingHttpHeaders): string {
  return typeof traceparent === 'string' ? traceparent : '';
}

/** A span for each request, by its route: a path may hold a secret. Only to be called where something is traced. */
export function traceRequests(
  server: HttpServer,
  isTraced: (route: string) => boolean,
  about: (request: FastifyRequest) => Attributes,
): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    if (isTraced(route))
      request.span = startSpan({
        name: `${request.method} ${route}`,
        kind: 'server',
        parent: callersTrace(request.headers),
        attributes: {
          'http.request.method': request.method,
          'http.route': route,
          'svc.request_id': request.id,
        },
      });
    done();
  });
  // After the body, whose events come from the socket and not from the hook before.
  server.addHook('preValidation', (request, _reply, done) => runIn(request.span, done));
  server.addHook('onResponse', (request, reply, done) => {
    const { span } = request;
    if (span) {
      span.note({ 'http.response.status_code': reply.statusCode, ...about(request) });
      span.end(reply.statusCode >= 500 ? String(reply.statusCode) : undefined);
    }
    done();
  });
}
