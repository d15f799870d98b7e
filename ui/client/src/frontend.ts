import type { Client } from 'openapi-fetch';
import { createCalls, type ConnectOptions } from './calls.ts';
import { connectionsOf, type Connections } from './connections.ts';
import type { paths } from './generated/api.ts';
import { installationsOf, type Installations } from './installations.ts';

/** The part of the client that a front-end token reaches: a page need not load the rest. */
export interface Frontend {
  readonly project: string;
  readonly connections: Connections;
  readonly installations: Installations;
  /** Everything else: each path of the API, typed. */
  readonly api: Client<paths>;
}

export function createFrontend(options: ConnectOptions): Frontend {
  const calls = createCalls(options);
  return {
    project: options.project,
    api: calls.api,
    connections: connectionsOf(calls),
    installations: installationsOf(calls),
  };
}
