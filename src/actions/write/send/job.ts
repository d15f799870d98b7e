import type {
  Connector,
  Failure,
  ObjectDescription,
  ProviderClient,
  WriteKind,
} from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { Course } from './resolve.ts';

/** What is executed: the part of a plan that is the same for all of its records. */
export interface WriteJob {
  kind: WriteKind;
  objectName: string;
  /** Of an upsert: the provider's field that its records go by. */
  upsertBy?: string;
  allOrNone: boolean;
  headers: { key: string; value: string }[];
}

/** Where and under which conditions it is executed. */
export interface WriteContext {
  connector: Connector;
  client: ProviderClient;
  /** False once the lease is over; then no byte is sent (docs/invariants.md, 14). */
  mayStillSend(): boolean;
  /** Whether an earlier attempt of the same operation may have been done. */
  isRepeat: boolean;
  describe: () => Promise<{ object: ObjectDescription } | { failure: Failure }>;
}

/** A job with what holds for its lost answers. */
export type AttemptJob = WriteJob & Pick<Course, 'mode' | 'onUnknown'>;

/** The records of one attempt, and how the attempt before ended for them, by slot. */
export interface AttemptRecords {
  /** Not later than the acceptance, in milliseconds since the epoch by the clock of this process. */
  acceptedAt: number;
  records: readonly PlannedRecord[];
  earlier: ReadonlyMap<number, Failure>;
  /** After that one another began, whose end nobody recorded. */
  isLost?: boolean;
}

export interface AttemptContext extends WriteContext {
  signal: AbortSignal;
  /** How often a read-back that fails is made in all. */
  tries: number;
  /** How long to look for lost records at most, in milliseconds. */
  patienceMs?: number;
  /** Which of these records of the provider are known to be made by other creates. */
  madeElsewhere?: (recordIds: readonly string[]) => Promise<readonly string[]>;
  /** How long after it was lost a create may still take effect, in milliseconds; unless told, what the provider documents. */
  lateEffectMs?: number | undefined;
}
