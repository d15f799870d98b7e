import { newId } from '../../kit/ids.ts';
import type { Queryable } from '../../kit/db/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { doubt, firstProject, type Marked } from '../../lanes/index.ts';
import {
  endsOf,
  load,
  withPayloads,
  type Ends,
  type Settlement,
  type WorkItem,
} from '../../operations/index.ts';
import { sealSome } from './auto-batch/store.ts';
import { storedWriteOf } from './prepare/stored.ts';
import { settleUnsent, unknownOutcome } from './record/settle.ts';

/** Writes that were unfinished in a restored database. */
export interface Doubted {
  /** Ended, with an outcome that only a look at the provider can tell. */
  ended: number;
  /** Creates that the nodes look for at the provider before anything else. */
  toLookUp: number;
}

const why =
  'the database was restored from a backup that is older than the end of this write; whether it was done after the backup is not known, and it was not sent again';

/**
 * After a restore nothing that was accepted before the backup is sent as if it were new. Creates count as sent by a node
 * that is gone: they are looked for. Everything else ends with an unknown outcome. May be repeated; no node may work meanwhile.
 */
export async function doubtWrites(ground: Pick<Ground, 'database' | 'metrics' | 'log'>): Promise<Doubted> {
  const { database } = ground;
  const ends = endsOf(ground);
  const lease = newId();
  const doubted: Doubted = { ended: 0, toLookUp: 0 };
  while (await sealSome(database));
  let after: Pick<Marked, 'projectId' | 'seq'> = { projectId: firstProject, seq: '0' };
  for (;;) {
    const page = await database.transaction((tx) => doubtPage(tx, ends, lease, after));
    doubted.ended += page.ended;
    doubted.toLookUp += page.toLookUp;
    if (!page.last) break;
    after = page.last;
  }
  await ends.close();
  return doubted;
}

async function doubtPage(
  tx: Queryable,
  ends: Pick<Ends, 'record'>,
  lease: string,
  after: Pick<Marked, 'projectId' | 'seq'>,
): Promise<Doubted & { last: Marked | undefined }> {
  const marked = await doubt(tx, 'write', lease, after);
  const items = await load(tx, marked);
  const settled: Settlement[] = [];
  for (const item of items) {
    if (canBeLookedFor(item)) continue;
    const whole = await withPayloads(tx, item);
    settled.push(settleUnsent(whole, unknownOutcome(why)));
  }
  await ends.record(tx, settled);
  return { ended: settled.length, toLookUp: items.length - settled.length, last: marked.at(-1) };
}

function canBeLookedFor({ request }: WorkItem): boolean {
  return storedWriteOf(request).kind === 'create';
}
