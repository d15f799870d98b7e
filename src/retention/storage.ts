import type { Database } from '../kit/db/database.ts';
import { sizeOfAll, sizeOfProject } from '../kit/db/table-size.ts';
import { sleep } from '../kit/retry.ts';
import type { History } from './history.ts';
import type { KeepDays } from '../projects/schema.ts';
import type { HistoryKind, Storage } from './schema.ts';

/** What is only erased here has no tables that grow. */
const isHistory = ({ tables }: History): boolean => tables.length > 0;

/** What a project holds, by kind; nothing is counted beyond a bound. */
export async function storageOf(
  database: Database,
  histories: readonly History[],
  projectId: string,
  asked: KeepDays,
): Promise<Storage> {
  const days = new Map<string, number>(Object.entries(asked));
  const kinds: Storage['kinds'] = [];
  for (const { kind, tables, keepDays } of histories.filter(isHistory)) {
    const sizes = [];
    for (const table of tables) sizes.push(await sizeOfProject(database, table, projectId));
    kinds.push({
      kind,
      keepDays,
      ...(days.has(kind) ? { projectKeepDays: days.get(kind) } : {}),
      rows: sizes.reduce((sum, { rows }) => sum + rows, 0),
      bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
      isEstimate: sizes.some(({ isEstimate }) => isEstimate),
    });
  }
  return { projectId, kinds };
}

export interface HeldByKind {
  kind: HistoryKind;
  rows: number;
  bytes: number;
}

const keptMs = 60_000;
const patienceMs = 2_000;

/** What is held in all, for the gauges: read once in a while for all who ask; undefined while the database is away. */
export function createHeldReader(
  database: Database,
  histories: readonly History[],
): () => Promise<HeldByKind[] | undefined> {
  let reading: Promise<HeldByKind[] | undefined> | undefined;
  let readAt = -Infinity;
  const read = async (): Promise<HeldByKind[]> => {
    const held: HeldByKind[] = [];
    for (const { kind, tables } of histories.filter(isHistory))
      held.push({ kind, ...(await sizeOfAll(database, tables)) });
    return held;
  };
  return () => {
    if (!reading || performance.now() - readAt > keptMs) {
      readAt = performance.now();
      reading = read().catch(() => undefined);
    }
    return Promise.race([reading, sleep(patienceMs).then(() => undefined)]);
  };
}
