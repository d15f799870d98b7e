import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';

/** Whether the request offers to go on in another protocol (RFC 9110, 7.8). */
export function offersUpgrade({ upgrade, connection = '' }: IncomingHttpHeaders): boolean {
  return upgrade !== undefined && /\bupgrade\b/i.test(connection);
}

/**
 * Ends a connection with the answer to an offer to upgrade, which no server of ours takes: node loses what came in one piece with
 * the offer and stands behind it, and the caller learns by the end that nothing of it was done.
 */
export function endAfterOffers(server: Server): void {
  server.prependListener('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (offersUpgrade(headers)) response.shouldKeepAlive = false;
  });
}
