/** Gauges, read when they are scraped. */
import { Gauge, Registry, type CollectFunction } from 'prom-client';
import { oldestCachedMs } from './kit/cache.ts';
import type { Ground } from './kit/ground.ts';
import type { Deliveries } from './deliveries/index.ts';
import type { Retention } from './retention/index.ts';
import type { BacklogRow, Operations } from './operations/index.ts';

interface Measured {
  ground: Pick<Ground, 'metrics' | 'database'>;
  operations: Pick<Operations, 'backlog' | 'backlogByConnection'>;
  deliveries: Pick<Deliveries, 'deadLetters'>;
  retention: Pick<Retention, 'held'>;
}

const ofWork = {
  waiting: {
    name: 'svc_work_waiting',
    help: 'Operations that wait for an attempt, on all nodes together.',
    read: (row: BacklogRow) => row.waiting,
  },
  oldest: {
    name: 'svc_work_oldest_waiting_seconds',
    help: 'Since the acceptance of the oldest operation that waits.',
    read: (row: BacklogRow) => row.oldestSeconds,
  },
  inFlight: {
    name: 'svc_work_in_flight',
    help: 'Operations of which an attempt is under way, on all nodes together.',
    read: (row: BacklogRow) => row.inFlight,
  },
} as const;

const ofStorage = [
  { name: 'svc_storage_bytes', help: 'What is kept, with its indexes.', read: 'bytes' },
  { name: 'svc_storage_rows', help: 'Rows that are kept, as PostgreSQL last counted.', read: 'rows' },
] as const;

/** Registers the gauges of the database, the caches and the queues. */
export function registerGauges(measured: Measured): void {
  const { ground, operations, deliveries } = measured;
  const registers = [ground.metrics.registry];
  const one = (name: string, help: string, collect: CollectFunction<Gauge>): Gauge =>
    new Gauge({ name, help, registers, collect });
  // Read before what asks the database, which takes connections of the pool.
  registerPoolGauges(measured);
  for (const { name, help, read } of Object.values(ofWork)) {
    const gauge: Gauge<'kind' | 'provider'> = new Gauge({
      name,
      help,
      registers,
      labelNames: ['kind', 'provider'],
      async collect() {
        const found = await operations.backlog();
        // With the database away there is no figure; an old one would mislead.
        gauge.reset();
        for (const row of found?.rows ?? []) gauge.set({ kind: row.kind, provider: row.provider }, read(row));
      },
    });
  }
  one(
    'svc_database_oldest_snapshot_seconds',
    'Age of the oldest snapshot that a session of the database holds.',
    async function () {
      const found = await operations.backlog();
      if (found) this.set(found.snapshotSeconds);
      else this.remove();
    },
  );
  one(
    'svc_dead_letters',
    'Deliveries that ran out of attempts and are kept; counted to 100,000.',
    async function () {
      const found = await deliveries.deadLetters();
      if (found === undefined) this.remove();
      else this.set(found);
    },
  );
  registerStorageGauges(measured);
}

/** Registers the gauges of what this process has of the database. */
function registerPoolGauges({ ground }: Pick<Measured, 'ground'>): void {
  const registers = [ground.metrics.registry];
  const one = (name: string, help: string, collect: CollectFunction<Gauge>): Gauge =>
    new Gauge({ name, help, registers, collect });
  one('svc_cache_oldest_seconds', 'Since what is served from memory was read, at the longest.', function () {
    this.set(oldestCachedMs() / 1000);
  });
  one(
    'svc_database_away_seconds',
    'For how long the database has not answered, or has taken no changes; 0 while it does.',
    function () {
      this.set(ground.database.awayMs() / 1000);
    },
  );
  const connections = new Gauge({
    name: 'svc_database_connections',
    help: 'Connections of this process to the database.',
    registers,
    labelNames: ['state'],
    collect() {
      const { size, idle } = ground.database.pool();
      connections.set({ state: 'busy' }, size - idle);
      connections.set({ state: 'idle' }, idle);
    },
  });
  one('svc_database_waiting', 'Statements of this process that wait for a connection.', function () {
    this.set(ground.database.pool().waiting);
  });
}

/** Registers the gauges of what is kept. */
function registerStorageGauges({ ground, retention }: Pick<Measured, 'ground' | 'retention'>): void {
  const registers = [ground.metrics.registry];
  for (const { name, help, read } of ofStorage) {
    const gauge: Gauge<'kind'> = new Gauge({
      name,
      help,
      registers,
      labelNames: ['kind'],
      async collect() {
        const found = await retention.held();
        gauge.reset();
        for (const held of found ?? []) gauge.set({ kind: held.kind }, held[read]);
      },
    });
  }
}

/** The longest queues, by connection. */
export async function backlogByConnection({ operations }: Pick<Measured, 'operations'>): Promise<string> {
  const registry = new Registry();
  const rows = await operations.backlogByConnection();
  for (const { name, help, read } of Object.values(ofWork)) {
    const gauge = new Gauge({
      name,
      help,
      registers: [registry],
      labelNames: ['kind', 'provider', 'connection'],
    });
    for (const row of rows)
      gauge.set(
        { kind: row.kind, provider: row.provider, connection: row.connectionId ?? 'unknown' },
        read(row),
      );
  }
  return registry.metrics();
}
