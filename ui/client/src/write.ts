import { answerOf, type CallOptions, type Calls } from './calls.ts';
import type {
  Association,
  BatchWritten,
  WriteAccepted,
  WritePlanned,
  WriteRequest,
} from './generated/api.ts';
import type { IntegrationOf, IntegrationsShape, WrittenOf } from './shape.ts';
import { refuseNulled } from './nulled.ts';
import { SvcError } from './problem.ts';
import { retryFailedHeader } from './transport.ts';

type Kind = WriteRequest['type'];
export type Mode = NonNullable<WriteRequest['mode']>;

export interface WriteOptions extends CallOptions {
  /** Stands for this write, for 7 days; a new one is made unless given. With the same key and the same request it is done once. */
  idempotencyKey?: string;
  /**
   * Where the key stands for a write that failed, and nothing of it was done or may have been, it is written again, in an operation that
   * stands in place of the failed one, as is an update or a delete of unknown outcome that is `retryable`; otherwise that failure is the
   * answer as long as the key is kept.
   */
  retryFailed?: boolean;
}

interface Target<M extends IntegrationsShape, I extends IntegrationOf<M>, O extends WrittenOf<M, I>> {
  integration: I;
  object: O;
  /** The group whose installation is written to. */
  groupRef: string;
}

/** What a record of that kind of write holds. */
type RecordOf<T extends Kind, Record> = T extends 'create' | 'upsert'
  ? Record
  : T extends 'update'
    ? Record & { id: string }
    : { id: string };

/** An upsert goes by a field whose values the provider keeps unique. */
type Identity<T extends Kind, Record> = T extends 'upsert'
  ? { upsertBy: keyof Record & string }
  : { upsertBy?: never };

type Common<Answered, Dry> = Pick<WriteRequest, 'headers' | 'retryPolicy' | 'onUnknown'> & {
  /** `synchronous` unless told; a delete always is. */
  mode?: Answered;
  /** Answers what would be sent; sends nothing. */
  dryRun?: Dry;
};

export type SingleWrite<
  M extends IntegrationsShape,
  I extends IntegrationOf<M>,
  O extends WrittenOf<M, I>,
  T extends Kind,
  Answered extends Mode,
  Dry extends boolean,
> = Target<M, I, O> &
  Common<Answered, Dry> &
  Identity<T, M[I]['write'][O]> & {
    type: T;
    record: RecordOf<T, M[I]['write'][O]>;
    associations?: Association[];
    autoBatchPolicy?: WriteRequest['autoBatchPolicy'];
  };

export type BatchWrite<
  M extends IntegrationsShape,
  I extends IntegrationOf<M>,
  O extends WrittenOf<M, I>,
  T extends Exclude<Kind, 'delete'>,
  Answered extends Mode,
  Dry extends boolean,
> = Target<M, I, O> &
  Common<Answered, Dry> &
  Identity<T, M[I]['write'][O]> & {
    type: T;
    /** 1 to 100. */
    batch: { record: RecordOf<T, M[I]['write'][O]>; associations?: Association[]; reference?: string }[];
    batchPolicy?: WriteRequest['batchPolicy'];
  };

/** What a write is answered with, by what was asked for. */
export type WriteAnswer<Done, Answered extends Mode, Dry extends boolean> =
  | (true extends Dry ? WritePlanned : never)
  | (false extends Dry ? (Answered extends 'asynchronous' ? WriteAccepted : Done) : never);

type Sent = Pick<WriteRequest, 'type' | 'groupRef'> & { integration: string; object: string };

/** Sends a single write. Where the provider refuses the record it is thrown as a `SvcError`. */
export async function sendWrite(calls: Calls, request: Sent, options: WriteOptions = {}): Promise<unknown> {
  return once(options, (given) => answerOf(post(calls, request, given)));
}

/** Sends a batch. A batch of which no record was done is answered like one of which some were. */
export async function sendBatch(calls: Calls, request: Sent, options: WriteOptions = {}): Promise<unknown> {
  return once(options, (given) => answerOf<unknown>(post(calls, request, given), isBatch));
}

/** Sends under a key, which stands in what is thrown. */
async function once(
  { idempotencyKey = crypto.randomUUID(), ...options }: WriteOptions,
  write: (options: WriteOptions & { idempotencyKey: string }) => Promise<unknown>,
): Promise<unknown> {
  try {
    return await write({ ...options, idempotencyKey });
  } catch (error) {
    if (error instanceof SvcError) error.idempotencyKey = idempotencyKey;
    throw error === options.signal?.reason ? reasonOf(error, idempotencyKey) : error;
  }
}

/** The reason of a signal, with the key. One that another write of the signal has its key in is told by an error of its own. */
function reasonOf(reason: unknown, idempotencyKey: string): unknown {
  if (!(reason instanceof Error) || reason instanceof SvcError) return reason;
  if (!('idempotencyKey' in reason) && Object.isExtensible(reason))
    return Object.assign(reason, { idempotencyKey });
  const { name, message } = reason;
  return Object.assign(new Error(message, { cause: reason }), { name, idempotencyKey });
}

function post(
  calls: Calls,
  request: Sent,
  { signal, idempotencyKey, retryFailed = false }: WriteOptions & { idempotencyKey: string },
): ReturnType<Calls['post']> {
  const { integration: integrationId, object: objectName, ...body } = request;
  refuseNulled(body);
  return calls.post(
    '/write/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}',
    {
      params: { projectIdOrName: calls.projectIdOrName, integrationId, objectName },
      headers: {
        'idempotency-key': idempotencyKey,
        ...(retryFailed ? { [retryFailedHeader]: 'true' } : {}),
      },
      body,
      signal,
    },
  );
}

function isBatch(error: unknown): error is BatchWritten {
  return typeof error === 'object' && error !== null && 'results' in error && 'failureCount' in error;
}
