import { answerOf, onlyPage, type CallOptions, type Calls } from './calls.ts';
import type {
  Association,
  BatchWritten,
  RecordWritten,
  WriteAccepted,
  WritePlanned,
  WriteRequest,
} from './generated/api.ts';
import { SvcError } from './problem.ts';
import type { IntegrationOf, IntegrationsShape, WrittenOf } from './shape.ts';
import { isReplayed } from './transport.ts';

type Kind = WriteRequest['type'];
export type Mode = NonNullable<WriteRequest['mode']>;

export interface WriteOptions extends CallOptions {
  /** Stands for this write, for 7 days; a new one is made unless given. With the same key and the same request it is done once. */
  idempotencyKey?: string;
  /**
   * Where the key stands for a write that has failed, it is tried anew, under `<key>.2` and so on; otherwise that failure is the answer as
   * long as the key is kept. What may have been done is never tried anew.
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
  return send(calls, request, options, (answered) => answerOf(answered));
}

/** Sends a batch. A batch of which no record was done is answered like one of which some were. */
export async function sendBatch(calls: Calls, request: Sent, options: WriteOptions = {}): Promise<unknown> {
  return send(calls, request, options, (answered) => answerOf<unknown>(answered, isBatch));
}

async function send(
  calls: Calls,
  request: Sent,
  options: WriteOptions,
  answer: (answered: ReturnType<typeof post>) => Promise<unknown>,
): Promise<unknown> {
  const { idempotencyKey: first = crypto.randomUUID(), retryFailed = false } = options;
  for (let number = 1; ; number++) {
    const answered = post(calls, request, options, number === 1 ? first : `${first}.${number}`);
    try {
      const said = await answer(answered);
      if (!retryFailed || isDone(said) || !isReplayed((await answered).response)) return said;
      if (!(await hasFailed(calls, said, options))) return said;
    } catch (error) {
      if (!(retryFailed && error instanceof SvcError && error.replayed && didNothing(error))) throw error;
    }
  }
}

function isDone(said: unknown): boolean {
  return (said as Partial<RecordWritten>).result?.success === true;
}

function didNothing({ operationId, category, retryable }: SvcError): boolean {
  return operationId !== undefined && category !== 'unknownOutcome' && !retryable;
}

/** Whether what was accepted before has ended, and none of its records was done or may have been. */
async function hasFailed(
  { api, projectIdOrName }: Calls,
  said: unknown,
  options: CallOptions,
): Promise<boolean> {
  const { operationId } = said as WriteAccepted;
  const params = { path: { projectIdOrName, operationId } };
  const signal = options.signal ? { signal: options.signal } : {};
  const one = '/v1/projects/{projectIdOrName}/operations/{operationId}';
  const { status } = await answerOf(api.GET(one, { params, ...signal }));
  if (status !== 'failure') return false;
  const query = { pageSize: 100 };
  const records = await answerOf(api.GET(`${one}/records`, { params: { ...params, query }, ...signal }));
  return onlyPage(records).results.every(({ errors }) =>
    errors.every(({ category }) => category !== 'unknownOutcome'),
  );
}

function post(
  calls: Calls,
  request: Sent,
  { signal }: WriteOptions,
  idempotencyKey: string,
): ReturnType<Calls['post']> {
  const { integration: integrationId, object: objectName, ...body } = request;
  return calls.post(
    '/write/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}',
    {
      params: { projectIdOrName: calls.projectIdOrName, integrationId, objectName },
      headers: { 'idempotency-key': idempotencyKey },
      body,
      signal,
    },
  );
}

function isBatch(error: unknown): error is BatchWritten {
  return typeof error === 'object' && error !== null && 'results' in error && 'failureCount' in error;
}
