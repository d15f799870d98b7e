import { record } from '../../events/index.ts';
import type { Database } from '../../kit/db/database.ts';
import { isId, timeOf } from '../../kit/ids.ts';
import { beforeIdOf, pageOf } from '../../kit/paging.ts';
import { problem, refuse, type Problem } from '../../kit/problem.ts';
import { keyOf } from '../destinations.ts';
import { holdDestination, loadDestinations } from '../store/destinations.ts';
import { begin, planOf } from './begin.ts';
import type { Replay, ReplayPage, ReplayQuery, ReplayRequest, ReplayStarted } from './schema.ts';
import { sliceOf } from './slice.ts';
import * as store from './store.ts';

/** Messages that are sent again. Every function throws not-found for what the project has not. */
export interface Replays {
  /** With `dryRun` it only counts. */
  start(projectId: string, request: ReplayRequest): Promise<ReplayStarted>;
  list(projectId: string, query: ReplayQuery): Promise<ReplayPage>;
  get(projectId: string, id: string): Promise<Replay>;
  /** What waits for an attempt is taken back; what was sent stays sent. */
  cancel(projectId: string, id: string): Promise<Replay>;
}

interface ReplaysDeps {
  database: Database;
  announce: (destinationId: string) => void;
  /** Whether destinations of the type take messages of records alone. */
  isRecordsOnly: (type: string) => boolean;
}

export function createReplays({ database, announce, isRecordsOnly }: ReplaysDeps): Replays {
  async function find(projectId: string, id: string): Promise<store.ReplayRow> {
    const row = isId(id) ? await store.findReplay(database, projectId, id) : undefined;
    if (!row) throw problem('not-found', { detail: `There is no replay ${id}.` });
    return row;
  }
  return {
    async start(projectId, request) {
      const { planned, type } = await plan(database, projectId, request);
      const counted = await count(database, sliceOf(planned, isRecordsOnly(type)));
      if (request.dryRun) return counted;
      await database.transaction(async (tx) => {
        // It may have been deleted since it was found.
        if (!(await holdDestination(tx, { projectId, id: planned.destination_id }))) throw noTarget(request);
        await begin(tx, planned);
      });
      announce(planned.destination_id);
      return { replayId: planned.id, ...counted };
    },
    async list(projectId, { pageSize, pageToken }) {
      const rows = await store.listReplays(database, projectId, beforeIdOf(pageToken), pageSize + 1);
      const { results, pagination } = pageOf(rows, pageSize, ({ id }) => id);
      return { results: results.map(present), pagination };
    },
    get: async (projectId, id) => present(await find(projectId, id)),
    async cancel(projectId, id) {
      const before = present(await find(projectId, id));
      if (before.status !== 'running') return before;
      await database.transaction(async (tx) => {
        if (!(await store.cancelReplay(tx, projectId, id, 'Canceled by request.'))) return;
        const details = { groupRef: before.filter.groupRef };
        await record(tx, { projectId, action: 'replay.canceled', targetId: id, details });
      });
      return present(await find(projectId, id));
    },
  };
}

async function plan(
  database: Database,
  projectId: string,
  { filter, destination }: ReplayRequest,
): Promise<{ planned: store.NewReplay; type: string }> {
  const { from, to, installationId } = filter;
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw refuse([{ in: 'body', name: 'filter.to', detail: 'must be later than filter.from', value: to }]);
  if (installationId !== undefined && !isId(installationId))
    throw refuse([
      {
        in: 'body',
        name: 'filter.installationId',
        detail: 'must be the id of an installation',
        value: installationId,
      },
    ]);
  const source = await idOf(database, projectId, filter.destination);
  const target = destination === undefined ? source : await idOf(database, projectId, destination);
  if (filter.destination === undefined && destination === undefined)
    throw refuse([
      { in: 'body', name: 'destination', detail: 'must be given, here or as filter.destination' },
    ]);
  if (target?.type === undefined) throw noTarget({ filter, destination });
  if (filter.destination !== undefined && !source)
    throw refuse([
      {
        in: 'body',
        name: 'filter.destination',
        detail: 'names no destination of this project; one that was deleted is named by its id',
        value: filter.destination,
      },
    ]);
  const found = { ...filter, ...(source ? { destination: source.id } : {}) };
  return { planned: planOf(projectId, target.id, found), type: target.type };
}

function noTarget({ filter, destination }: Pick<ReplayRequest, 'filter' | 'destination'>): Problem {
  return refuse([
    {
      in: 'body',
      name: destination === undefined ? 'filter.destination' : 'destination',
      detail: 'names no destination of this project',
      value: destination ?? filter.destination,
    },
  ]);
}

/** A destination that was deleted is known by its id alone, and has no type. */
async function idOf(
  database: Database,
  projectId: string,
  nameOrId: string | undefined,
): Promise<{ id: string; type?: string } | undefined> {
  if (nameOrId === undefined) return undefined;
  const [row] = await loadDestinations(database, [keyOf(projectId, nameOrId)]);
  if (row) return { id: row.id, type: row.type };
  return isId(nameOrId) ? { id: nameOrId } : undefined;
}

/** Messages that one statement looks at, and how long is counted in all. */
const countedAtOnce = 20_000;
const countingMs = 3_000;

async function count(
  database: Database,
  slice: store.Slice,
): Promise<{ count: number; countIsComplete: boolean }> {
  const until = performance.now() + countingMs;
  let found = 0;
  for (let { after } = slice; ;) {
    const next = await store.countNext(database, { ...slice, after }, countedAtOnce);
    found += next.found;
    if (next.last === null || next.scanned < countedAtOnce) return { count: found, countIsComplete: true };
    if (performance.now() > until) return { count: found, countIsComplete: false };
    after = next.last;
  }
}

function present(row: store.ReplayRow): Replay {
  const [queued, delivered, failed] = [row.queued, row.delivered, row.failed].map(Number) as [
    number,
    number,
    number,
  ];
  // What was dropped with its message waits no longer, and was counted nowhere.
  const pending = row.waits ? Math.max(0, queued - delivered - failed) : 0;
  const isOver = row.status === 'queued' && pending === 0;
  return {
    id: row.id,
    projectId: row.project_id,
    destinationId: row.destination_id,
    filter: row.filter,
    status: row.status === 'canceled' ? 'canceled' : isOver ? 'done' : 'running',
    ...(row.reason === null ? {} : { reason: row.reason }),
    progress: { queued, delivered, failed, pending, ...reached(row) },
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}

function reached({ place, status, until }: store.ReplayRow): { reachedTime?: string } {
  const ms = timeOf(status === 'queued' ? until : place);
  return ms > 0 ? { reachedTime: new Date(ms).toISOString() } : {};
}
