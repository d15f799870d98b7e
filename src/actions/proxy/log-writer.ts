import { createBatchWriter } from '../../kit/batch-writer.ts';
import { keepPartitions, type PartitionedTable } from '../../kit/db/partitions.ts';
import type { Ground } from '../../kit/ground.ts';
import type { Target } from '../../installations/index.ts';
import { insertLogRows, type ProxyLogCall, type ProxyLogTarget } from './log-store.ts';

/** What is noted of a call; times in milliseconds. */
export interface LogEntry {
  target: Target;
  id: string;
  method: string;
  /** The target of the request as it came. */
  path: string;
  status: number | undefined;
  problem: string | undefined;
  providerMs: number | undefined;
  totalMs: number;
}

export interface ProxyLogOptions {
  logRequests?: 'all' | 'problems';
  proxyLogKeepDays: number;
}

/** Writes a line for every call, in batches, after the call has ended. Bodies are never kept. */
export interface ProxyLog {
  note(entry: LogEntry): void;
  /** Writes the remaining lines, if the database answers. */
  close(): Promise<void>;
}

export const proxyLogPartitions: PartitionedTable[] = [
  {
    table: 'proxy_log',
    key: 'id',
    by: 'day',
    ahead: 7,
    hasDefault: true,
    keptAs: 'proxyLogs',
    large: ['path'],
  },
];

const rowsPerBatch = 2_000;
const mostWaiting = 50_000;
const rotateEveryMs = 3_600_000;

export function createProxyLog(
  { database, log }: Ground,
  { logRequests = 'all', proxyLogKeepDays: keepDays }: ProxyLogOptions,
): ProxyLog {
  let rotatedAt = -Infinity;

  async function rotate(): Promise<void> {
    if (performance.now() - rotatedAt < rotateEveryMs) return;
    rotatedAt = performance.now();
    try {
      await keepPartitions(database, proxyLogPartitions, keepDays);
    } catch (error) {
      // Lines go into the default partition meanwhile.
      log.warn(
        { err: error },
        'the partitions of the proxy log could not be renewed; trying again in an hour',
      );
    }
  }

  const writer = createBatchWriter<LogEntry>({
    log,
    what: 'lines of the proxy log',
    rowsPerBatch,
    mostWaiting,
    async write(entries) {
      await rotate();
      await insertLogRows(database, entries.map(callOf), targetOf);
    },
  });
  return {
    note(entry) {
      if (log.isLevelEnabled('info') && (logRequests === 'all' || entry.problem !== undefined))
        log.info(lineOf(entry), 'proxied');
      writer.add(entry);
    },
    close: () => writer.close(),
  };
}

/** Without the provider's path, which is in the table. */
function lineOf(entry: LogEntry): Record<string, unknown> {
  const { id: requestId, method, status, problem, totalMs, providerMs } = entry;
  const { projectId, groupRef, connectionId, installationId, provider } = entry.target;
  const times = {
    ms: Math.round(totalMs),
    providerMs: providerMs === undefined ? undefined : Math.round(providerMs),
  };
  return {
    requestId,
    method,
    status,
    problem,
    ...times,
    projectId,
    groupRef,
    connectionId,
    installationId,
    provider,
  };
}

const longestPath = 2_000;

function callOf(entry: LogEntry): { target: Target; call: ProxyLogCall } {
  return {
    target: entry.target,
    call: {
      id: entry.id,
      method: entry.method,
      path: withoutValues(entry.path).slice(0, longestPath),
      status: entry.status ?? null,
      problem: entry.problem ?? null,
      provider_ms: entry.providerMs === undefined ? null : Math.round(entry.providerMs),
      total_ms: Math.round(entry.totalMs),
    },
  };
}

function targetOf(target: Target): ProxyLogTarget {
  return {
    project_id: target.projectId,
    integration_id: target.integrationId,
    installation_id: target.installationId,
    connection_id: target.connectionId,
    group_ref: target.groupRef,
    provider: target.provider,
  };
}

/** A path with the names of its query; the values may be anybody's secrets. */
function withoutValues(target: string): string {
  const at = target.search(/[?#]/);
  if (at < 0) return target;
  const [path, query] = [target.slice(0, at), target.slice(at + 1)];
  if (query === '') return path;
  const names = query
    .split('&')
    .map((part) => (part.includes('=') ? part.slice(0, part.indexOf('=') + 1) : ''));
  return `${path}?${names.filter(Boolean).join('&')}`;
}
