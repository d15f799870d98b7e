import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { drainingResponse, rememberConnections } from '../../kit/http/draining.ts';
import { parseTrustedProxies } from '../../kit/http/caller-address.ts';
import { afterAnswers, breakageOn, endAfter } from '../../kit/http/broken-connection.ts';
import { unreadableHead, type ParserError } from '../../kit/http/client-faults.ts';
import { guardConnections } from '../../kit/http/guard.ts';
import { expectsMore } from '../../kit/http/request-head.ts';
import { patience } from '../../kit/http/request-time.ts';
import { callersTrace } from '../../kit/http/traced-requests.ts';
import { newId } from '../../kit/ids.ts';
import type { Logger } from '../../kit/log.ts';
import { problemKindOf } from '../../kit/problem-catalogue.ts';
import { problem, refuse, type Problem } from '../../kit/problem.ts';
import { runIn, startSpan } from '../../kit/trace.ts';
import { breakBody, limitRest } from './body.ts';
import { proxyCall, type ProxyDeps } from './call.ts';
import { createProxyLog, type ProxyLogOptions } from './log-writer.ts';
import { answerProblem, refuseOnSocket, tellRefusal } from './refuse.ts';

export interface ProxyServer {
  readonly server: Server;
  /** Stops accepting, waits for what is in flight and for its log. */
  close(): Promise<void>;
}

interface ProxyOptions extends ProxyLogOptions {
  trustedProxies?: readonly string[];
}

/**
 * The proxy's own listener (§4.6): authenticate, find the target, replace the host, attach the credential,
 * stream both ways. Nothing is written to the database or the log before the provider is called.
 */
export function createProxyServer(
  rooms: Omit<ProxyDeps, 'proxyLog' | 'isTrusted' | 'callerSilenceMs'>,
  options: ProxyOptions,
): ProxyServer {
  const { ground } = rooms;
  const proxyLog = createProxyLog(ground, options);
  const isTrusted = parseTrustedProxies(options.trustedProxies ?? []);
  const deps: ProxyDeps = { ...rooms, proxyLog, isTrusted, callerSilenceMs: () => server.timeout };
  const server: Server = createServer({
    ServerResponse: drainingResponse(() => server.listening),
    keepAliveTimeout: 65_000,
    ...patience,
    // A body that is streamed on may take as long as the call; see readCallBody for one that is not.
    requestTimeout: 0,
    // We answer it with a problem.
    requireHostHeader: false,
    highWaterMark: 64 * 1024,
  });
  guardConnections(server);
  rememberConnections(server);
  // Limit for a caller who neither reads nor sends; longer than a provider may be silent.
  server.timeout = ground.limits.providerCallMs + 30_000;
  const take = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    traced(deps, request, response, expectsContinue).catch((error: unknown) => {
      ground.log.error({ err: error, surface: 'proxy' }, 'a call ended as it must not');
      response.destroy();
    });
  };
  server.on('request', (request, response) => take(request, response, false));
  server.on('checkContinue', (request, response) => {
    if (expectsMore(request)) server.emit('checkExpectation', request, response);
    else take(request, response, true);
  });
  server.on('checkExpectation', (_request, response) => {
    const issue = { in: 'header', name: 'expect', detail: 'must be 100-continue, or not be sent' } as const;
    const requestId = newId();
    const answer = refuse([issue], 'proxy-request-invalid');
    tellRefusal(ground.log, answer, requestId);
    answerProblem(ground.log, response, answer, requestId);
  });
  server.on('connect', (_request, socket: Duplex) => {
    const detail = 'The proxy opens no tunnels.';
    const refusal = problem('proxy-method-refused', { detail });
    afterAnswers(socket, () => refuseOnSocket(ground.log, socket, refusal));
  });
  server.on('clientError', (error, socket) => onUnreadable(ground.log, error, socket));
  return {
    server,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      await proxyLog.close();
    },
  };
}

async function traced(
  deps: ProxyDeps,
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  const span = startSpan({ name: 'proxy', kind: 'server', parent: callersTrace(request.headers) });
  try {
    await runIn(span, () => proxyCall(deps, request, response, expectsContinue));
  } finally {
    span?.end();
    limitRest(request);
  }
}

function onUnreadable(log: Logger, error: ParserError, socket: Duplex): void {
  const breakage = breakageOn(socket);
  // The caller left, or the answer is complete.
  if (error.code === 'ECONNRESET' || breakage.kind === 'answered') socket.destroy();
  else if (breakage.kind === 'behind') endAfter(breakage.response, socket);
  // Nothing was asked yet.
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
  else if (breakage.kind === 'request') refuseOnSocket(log, socket, unreadable(error));
  else {
    breakage.response.shouldKeepAlive = false;
    breakBody(breakage.request, unreadableBody());
  }
}

/** Answers what node's strict parser refuses: a message that two readers could divide differently. */
function unreadable(error: ParserError): Problem {
  if (error.code === 'HPE_HEADER_OVERFLOW') return problem('headers-too-large');
  const { fault, remedy = byClient } = unreadableHead(error);
  const detail = `The request is not valid HTTP/1.1: ${fault}; nothing was sent.`;
  return problem('proxy-request-invalid', { detail, remedy });
}

function unreadableBody(): Problem {
  return problem('proxy-request-invalid', {
    detail: 'The body of the request is not valid HTTP/1.1; what came before may have reached the provider.',
    remedy: byClient,
  });
}

const byClient = problemKindOf('malformed-request').remedy;
