import { createHash } from 'node:crypto';
import { wholeProject } from '../../../events/index.ts';
import { isDatabaseAway } from '../../../kit/db/faults.ts';
import { timeOf } from '../../../kit/ids.ts';
import { problem, Problem, refuse, renderProblem } from '../../../kit/problem.ts';
import {
  erased,
  outcomeNow,
  type EarlierUse,
  type KeyClaim,
  type Operations,
  type WrittenOperation,
} from '../../../operations/index.ts';
import type { Principal } from '../../../projects/index.ts';
import { abilitiesOf, type RecordOutcome } from '../../../providers/index.ts';
import { answerWrite, withErrors } from '../answer.ts';
import { plannedRecordOf, storedWriteOf } from '../prepare/stored.ts';
import type { AnswerOf } from '../send/synchronous.ts';
import { repetitionOf, whereForgotten } from './again.ts';

/** What a write is answered with. */
export interface WriteAnswer {
  status: number;
  body: unknown;
  /** Of which the body was rendered. */
  problem?: Problem;
  /** It answers an earlier request with the same key. */
  replayed?: true;
}

/** What of a request the claim of its key rests on. */
interface KeyedRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  bodyDigest?: Buffer;
  principal: Principal;
}

/** The `Idempotency-Key` of a request: the caller's own, for this method, path and body. */
function claimOf(request: KeyedRequest): KeyClaim | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const [path = ''] = request.url.split('?', 1);
  const hash = createHash('sha256')
    .update(`${request.method} ${path}\n`)
    .update(request.bodyDigest ?? '')
    .digest();
  return { principal: principalOf(request.principal), key, hash };
}

/** By what a request is known again. */
export interface Keyed {
  claim?: KeyClaim | undefined;
  /** What failed under the key, and of which nothing was done, is written again. */
  retriesFailed: boolean;
}

/** `Idempotency-Key` and `Retry-Failed` of a request. Throws the refusal of one without the other. */
export function keyedBy(request: KeyedRequest): Keyed {
  const claim = claimOf(request);
  if (!claim && request.headers['x-idempotency-key'] !== undefined) {
    const detail = 'is not read here: send the key in the header Idempotency-Key';
    throw refuse([{ in: 'header', name: 'x-idempotency-key', detail }]);
  }
  const retriesFailed = request.headers['retry-failed'] !== undefined;
  if (claim || !retriesFailed) return { claim, retriesFailed };
  throw refuse([
    { in: 'header', name: 'retry-failed', detail: 'belongs to an Idempotency-Key, and there is none' },
  ]);
}

function principalOf({ kind, keyId, groupRef }: Principal): string {
  if (kind === 'jwt') return `jwt:${keyId}:${groupRef ?? ''}`;
  return `${kind === 'person' ? 'person' : 'key'}:${keyId}`;
}

/** An answer as it is sent and kept: problems rendered, so that a replay says the same. */
export function rendered(answer: ReturnType<typeof answerWrite>, requestId: string): WriteAnswer {
  if (!('problem' in answer)) return answer;
  const { problem: failed } = answer;
  return { status: failed.status, body: withErrors(renderProblem(failed, requestId)), problem: failed };
}

/** Remembers the answer that it gave: what is kept is what is sent. */
export function answeringOnce(answerOf: (...given: Parameters<AnswerOf>) => WriteAnswer): typeof answerOf {
  let answer: WriteAnswer | undefined;
  return (operationId, outcomes) => (answer ??= answerOf(operationId, outcomes));
}

/** Who asks for what a key stands for. */
export interface Asking {
  requestId: string;
  mode: 'synchronous' | 'asynchronous';
}

const longestPauseSeconds = 20;

/** Seconds until a caller asks again for what began `ms` ago: most ends at once, and what was lost is looked for over minutes. Pure. */
export function pauseOf(ms: number): number {
  return Math.min(longestPauseSeconds, Math.max(1, Math.ceil(ms / 5_000)));
}

/**
 * The answer of the request that a key stands for. Throws `idempotency-key-in-flight` while one that is to be answered synchronously has none, and
 * `operation-erased` when it is gone by now.
 */
export async function replay(
  operations: Operations,
  projectId: string,
  earlier: EarlierUse,
  { requestId, mode }: Asking,
): Promise<WriteAnswer> {
  const { operationId, answer, ended } = earlier;
  if (answer) return { ...answer, replayed: true };
  if (mode === 'asynchronous') return { status: 200, body: { operationId }, replayed: true };
  if (!ended)
    throw problem('idempotency-key-in-flight', {
      retryAfterSeconds: pauseOf(Date.now() - timeOf(operationId)),
      extra: { operationId },
    });
  // Nobody was answered: the node died, and another found out, or gave up, what became of it; or it was made by a retry. Or what was
  // answered is no longer so.
  const written = await operations.written(wholeProject(projectId), operationId).catch(whereForgotten);
  if (!written) throw erased(operationId);
  return { ...rendered(answerOfHistory(written), requestId), replayed: true };
}

/**
 * A request with a key that is refused now may have been accepted before, under another config or connection: then it gets
 * the answer it got. Otherwise the refusal stands.
 */
export async function replayInstead(
  operations: Operations,
  projectId: string,
  { claim, retriesFailed }: Keyed,
  refusal: unknown,
  asking: Asking,
): Promise<WriteAnswer> {
  if (!claim || !(refusal instanceof Problem) || refusal.code.startsWith('idempotency-key-')) throw refusal;
  const { earlier } = await repetitionOf(operations, projectId, claim, retriesFailed).catch(
    (error: unknown) => {
      // The first failure tells whether the write may be accepted; that of the look-up does not.
      throw isDatabaseAway(refusal) ? refusal : error;
    },
  );
  if (!earlier) throw refusal;
  return replay(operations, projectId, earlier, asking);
}

function answerOfHistory({ operation, request, records }: WrittenOperation): ReturnType<typeof answerWrite> {
  const { kind, form, objectName, allOrNone, provider } = storedWriteOf(request);
  const plan = {
    kind,
    form,
    objectName,
    allOrNone,
    partialOnly: abilitiesOf(provider).partialOnly.includes(kind),
    records: records.map(({ payload }) => payload),
  };
  return answerWrite(plan, operation.id, records.flatMap(outcomeOf));
}

/** Whoever resolves a write of a record that it names need not name it again. */
function outcomeOf(record: WrittenOperation['records'][number]): RecordOutcome[] {
  const outcome = outcomeNow(record);
  if (!outcome) return [];
  const { id } = plannedRecordOf(record.payload);
  return [outcome.kind === 'applied' && id !== undefined ? { recordId: id, ...outcome } : outcome];
}
