import { record } from '../events/index.ts';
import type { Database } from '../kit/db/database.ts';
import { isId, newId } from '../kit/ids.ts';
import type { Logger } from '../kit/log.ts';
import { createPeriodic, type Periodic } from '../kit/periodic.ts';
import { problem, refuse } from '../kit/problem.ts';
import type { History } from './history.ts';
import type { Erasure, ErasureRequest } from './schema.ts';
import { findErasure, insertErasure, moveErasure, takeErasure, type ErasureRow } from './store.ts';

/** Removal of what was kept, on request: in steps that survive a kill, with an answer that says what is gone. */
export interface Erasures {
  start(projectId: string, request: ErasureRequest): Promise<Erasure>;
  get(projectId: string, id: string): Promise<Erasure>;
}

const firstId = '00000000-0000-0000-0000-000000000000';
/** Rows that one transaction looks at. */
const stepSize = 1_000;

export function createErasures(database: Database): Erasures {
  return {
    async start(projectId, { groupRef, wholeProject = false }) {
      if ((groupRef !== undefined) === wholeProject)
        throw refuse([
          {
            in: 'body',
            name: 'groupRef',
            detail: 'must be given, or wholeProject must be true: one of the two',
          },
        ]);
      const now = newId();
      const made = {
        project_id: projectId,
        id: newId(),
        group_ref: groupRef ?? null,
        until: now,
        place: firstId,
      };
      const row = await database.transaction(async (tx) => {
        const details = { groupRef, wholeProject };
        await record(tx, { projectId, action: 'erasure.started', targetId: made.id, details });
        return insertErasure(tx, made);
      });
      return present(row ?? absent(made.id));
    },
    get: async (projectId, id) =>
      present((isId(id) ? await findErasure(database, projectId, id) : undefined) ?? absent(id)),
  };
}

function absent(id: string): never {
  throw problem('not-found', { detail: `There is no erasure ${id}.` });
}

function present(row: ErasureRow): Erasure {
  return {
    id: row.id,
    projectId: row.project_id,
    ...(row.group_ref === null ? {} : { groupRef: row.group_ref }),
    status: row.status,
    removed: row.removed,
    unfinished: Number(row.unfinished),
    ...(hasFoundNothing(row) ? { note: nothingFound } : {}),
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}

/** The group may be mistyped, or erased before. */
const nothingFound =
  'Nothing was found that an erasure of this groupRef removes: look whether it is written as it was meant.';

function hasFoundNothing({ group_ref: groupRef, status, removed, unfinished }: ErasureRow): boolean {
  const found = Object.values(removed).reduce((sum, count) => sum + count, Number(unfinished));
  return groupRef !== null && status === 'done' && found === 0;
}

/** One step of the oldest erasure, with its place in one transaction; answers whether there was one. */
export async function eraseSome(
  database: Database,
  histories: readonly History[],
  limit = stepSize,
): Promise<boolean> {
  const erasable = histories.filter(({ erase }) => erase);
  return database.transaction(async (tx) => {
    const row = await takeErasure(tx);
    if (!row) return false;
    const at = Math.max(
      0,
      erasable.findIndex(({ kind }) => kind === row.kind),
    );
    const { kind, erase } = erasable[at] ?? {};
    if (!kind || !erase) throw new Error('there is nothing that can be erased');
    const slice = {
      projectId: row.project_id,
      groupRef: row.group_ref,
      after: row.place,
      until: row.until,
      askedAt: row.asked_at,
    };
    const { last, scanned, removed, unfinished } = await erase(tx, slice, limit);
    const counted = { ...row.removed, [kind]: (row.removed[kind] ?? 0) + removed };
    const next = scanned < limit ? erasable[at + 1]?.kind : kind;
    const moved: ErasureRow = {
      ...row,
      kind: next ?? kind,
      place: next === kind && last !== null ? last : firstId,
      status: next === undefined ? 'done' : 'running',
      removed: counted,
    };
    await moveErasure(tx, moved, unfinished);
    if (moved.status === 'done') {
      const details = {
        groupRef: row.group_ref ?? undefined,
        removed: counted,
        unfinished: Number(row.unfinished) + unfinished,
      };
      await record(tx, { projectId: row.project_id, action: 'erasure.done', targetId: row.id, details });
    }
    return true;
  });
}

const lookEveryMs = 5_000;
/** Between two steps, so that what is live goes first. */
const pauseMs = 20;

export function createEraser(
  { database, log }: { database: Database; log: Logger },
  histories: readonly History[],
): Periodic {
  return createPeriodic({
    log,
    what: 'a step of an erasure',
    everyMs: lookEveryMs,
    pauseMs,
    round: () => eraseSome(database, histories),
  });
}
