import type { Queryable } from '../kit/db/database.ts';
import { acceptingNothing } from '../kit/db/lost-commit.ts';
import { problem, type Problem } from '../kit/problem.ts';
import * as store from './store/keys.ts';
import type { EarlierUse, KeyClaim } from './work.ts';

/**
 * What the key stands for, if it does. A key whose time is over is free again.
 * Throws `idempotency-key-reused` when it stands for another request, and {@link erased} when nothing tells any more what became of it.
 */
export async function findEarlierUse(
  db: Queryable,
  projectId: string,
  claim: KeyClaim,
): Promise<EarlierUse | undefined> {
  const row = await store.find(db, projectId, claim);
  if (!row) return undefined;
  if (row.expired) {
    await acceptingNothing(store.forget(db, projectId, claim));
    return undefined;
  }
  if (row.hash !== claim.hash.toString('hex')) {
    throw problem('idempotency-key-reused', { extra: { operationId: row.operation_id } });
  }
  if (row.status === null && !tellsTheEnd(row.answer_status)) throw erased(row.operation_id);
  return {
    operationId: row.operation_id,
    ended: row.status !== 'in_progress',
    attempts: row.attempts ?? 0,
    request: row.request ?? {},
    ...(row.answer_status === null || row.resolved
      ? {}
      : { answer: { status: row.answer_status, body: row.response } }),
  };
}

/** Whether an answer says what became of the records; other failures may be settled or written again since. Pure. */
function tellsTheEnd(status: number | null): boolean {
  return status === 200 || status === 422;
}

/** The answer of a key that outlives what it stands for: done it was, and it must not look like a refusal. */
export function erased(operationId: string): Problem {
  return problem('operation-erased', {
    detail: `The write was accepted as operation ${operationId}, and what was kept of it is gone.`,
    extra: { operationId },
  });
}
