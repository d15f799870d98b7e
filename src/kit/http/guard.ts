import type { Server } from 'node:http';
import { watchConnections } from './broken-connection.ts';
import { paceChunks } from './chunk-pace.ts';
import { limitPipelines } from './pipelines.ts';
import { endAfterOffers } from './upgrades.ts';

/** What every server of ours needs against callers who send too much, or what cannot be read. Before its own listeners. */
export function guardConnections(server: Server): void {
  limitPipelines(server);
  watchConnections(server);
  paceChunks(server);
  endAfterOffers(server);
}
