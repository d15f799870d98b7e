import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { watchConnections } from './broken-connection.ts';
import { paceChunks } from './chunk-pace.ts';
import { limitPipelines } from './pipelines.ts';
import { endAfterOffers } from './upgrades.ts';

/** What every server of ours needs against callers who send too much, or what cannot be read. Before its own listeners. */
export function guardConnections(server: Server): void {
  // Their bytes are bounded. Beyond a number node drops them without a word, Host, Content-Length and idempotency keys, too.
  server.maxHeadersCount = 0;
  limitPipelines(server);
  watchConnections(server);
  paceChunks(server);
  endAfterOffers(server);
  endAfterOld(server);
}

/**
 * A connection of HTTP/1.0 ends with its first answer. Node ends it with one that has no length (204, a stream), and says so only when
 * what stands behind is done.
 */
function endAfterOld(server: Server): void {
  server.prependListener('request', ({ httpVersion }: IncomingMessage, response: ServerResponse) => {
    if (httpVersion !== '1.1') response.shouldKeepAlive = false;
  });
}
