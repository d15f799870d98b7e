import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Ends a connection with the answer to an offer to upgrade, which no server of ours takes: node loses what came in one piece with
 * the offer and stands behind it, and the caller learns by the end that nothing of it was done.
 */
export function endAfterOffers(server: Server): void {
  server.prependListener('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.upgrade !== undefined && /\bupgrade\b/i.test(headers.connection ?? ''))
      response.shouldKeepAlive = false;
  });
}
