import type { Database } from '../kit/db/database.ts';
import { groundOn } from '../connections/ground.fixture.ts';
import { generateMasterKey } from '../kit/vault.ts';
import { loadCatalog } from '../providers/index.ts';
import { createTransfer, type Transfer } from './transfer.ts';

/** Exports and imports on a database, by a server with a master key of its own whose operator keeps everything. */
export function transferOn(database: Database): Transfer {
  return createTransfer({
    ...groundOn(database, generateMasterKey('k1')),
    catalog: loadCatalog(),
    projects: { boundKeepDays: (asked) => asked, forget: () => undefined },
  });
}
