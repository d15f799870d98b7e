import type { Database } from '../kit/db/database.ts';
import type { KeepDays } from '../projects/schema.ts';
import { createErasures, type Erasures } from './erasures.ts';
import type { History } from './history.ts';
import type { Storage } from './schema.ts';
import { createHeldReader, storageOf, type HeldByKind } from './storage.ts';

/** How much of the past is kept. */
export interface Retention {
  readonly erasures: Erasures;
  readonly histories: readonly History[];
  /** `asked`: how long the project wants things kept. */
  storageOf(projectId: string, asked: KeepDays): Promise<Storage>;
  /** Of all projects, at most a minute old; undefined: it cannot be read now. */
  held(): Promise<HeldByKind[] | undefined>;
}

export function createRetention(database: Database, histories: readonly History[]): Retention {
  return {
    erasures: createErasures(database),
    histories,
    storageOf: (projectId, asked) => storageOf(database, histories, projectId, asked),
    held: createHeldReader(database, histories),
  };
}
