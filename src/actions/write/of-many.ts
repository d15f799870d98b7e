import { Type, type Static } from 'typebox';
import { record, type Reach } from '../../events/index.ts';
import { Problem } from '../../kit/problem.ts';
import type { WriteDeps } from './writes.ts';

/** What requests that concern the operations of a filter have in common. */

/** Operations of one request: each may hold a hundred records. */
export const mostAtOnce = 50;

export const refusedOf = (description: string) =>
  Type.Optional(
    Type.Object({ code: Type.String(), detail: Type.String() }, { additionalProperties: false, description }),
  );
type Refused = NonNullable<Static<ReturnType<typeof refusedOf>>>;

/** Notes who asked, once the request is known to be one that is done. */
export async function noteRequest(
  { ground }: Pick<WriteDeps, 'ground'>,
  { projectId }: Reach,
  action: 'operation.retried' | 'operation.canceled',
  filter: object,
): Promise<void> {
  await record(ground.database, { projectId, action, targetId: projectId, details: { filter } });
}

/** A refusal of one keeps no other back; a fault of ours ends the request. */
export async function orRefused<Done>(work: () => Promise<Done>): Promise<Done | { refused: Refused }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return { refused: { code: error.code, detail: error.message } };
  }
}
