import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import { attemptWrite, type AttemptContext, type AttemptJob } from './attempt.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { Simulated } from './simulated.fixture.ts';

/** What an attempt is tried with at each provider. */
export interface Case {
  provider: 'hubspot' | 'salesforce';
  object: string;
  /** Where creates of the object go, single and in batch. */
  writePath: string;
  batchPath: string;
  key: string;
  /** An object without a unique field. */
  keyless: { object: string; writePath: string; field: string };
  missingId: string;
  /** The provider's own answer that too many calls were made, for the shortest time that it knows. */
  tooMany: { status: number; body: unknown };
  /** Values that tell a record from no other. */
  unkeyed: Record<string, unknown>;
  record(key: string, name?: string): PlannedRecord;
  bad(key: string): PlannedRecord;
}

export const cases: Case[] = [
  {
    provider: 'hubspot',
    object: 'contacts',
    writePath: '/objects/contacts',
    batchPath: '/batch/create',
    key: 'email',
    missingId: '999999999',
    tooMany: { status: 429, body: { policyName: 'SECONDLY' } },
    unkeyed: { firstname: 'Nobody' },
    keyless: { object: 'companies', writePath: '/objects/companies', field: 'name' },
    record: (key, name = 'Ada') => ({ fields: { email: `${key}@Example.com`, firstname: name } }),
    bad: (key) => ({ fields: { email: `${key}@example.com`, nosuch: 1 } }),
  },
  {
    provider: 'salesforce',
    object: 'Contact',
    writePath: '/sobjects/Contact',
    batchPath: '/composite/sobjects',
    key: 'External_Id__c',
    missingId: '003000000000ZZZAAA',
    tooMany: {
      status: 403,
      body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'ConcurrentRequests Limit exceeded.' }],
    },
    unkeyed: { LastName: 'Nobody' },
    keyless: { object: 'Task', writePath: '/sobjects/Task', field: 'Subject' },
    record: (key, name = 'Ada') => ({ fields: { External_Id__c: `o'${key}`, LastName: name } }),
    bad: (key) => ({ fields: { External_Id__c: key } }),
  },
];

export function failureOf([outcome]: RecordOutcome[]): Failure {
  if (outcome === undefined || outcome.kind === 'applied') throw new Error('it was applied');
  return outcome.failure;
}

/** The most usual records, jobs and attempts at the provider of the case. */
export function attemptsAt(at: Case, sim: () => Simulated) {
  let count = 0;
  const fresh = (name?: string): PlannedRecord => at.record(`k${process.pid}-${++count}`, name);
  const job = (more: Partial<AttemptJob> = {}): AttemptJob => ({
    kind: 'create',
    mode: 'asynchronous',
    objectName: at.object,
    allOrNone: false,
    headers: [],
    ...more,
  });
  const attempt = (
    records: PlannedRecord[],
    more: {
      job?: Partial<AttemptJob>;
      earlier?: [number, Failure][];
      context?: Partial<AttemptContext>;
      acceptedAt?: number;
    } = {},
  ): Promise<RecordOutcome[]> => {
    const whole = job(more.job);
    return attemptWrite(
      whole,
      { acceptedAt: more.acceptedAt ?? Date.now(), records, earlier: new Map(more.earlier) },
      sim().context(whole.objectName, more.context),
    );
  };
  const keyless = (): PlannedRecord => ({ fields: { [at.keyless.field]: `n${++count}` } });
  const noKey = (): PlannedRecord => ({ fields: at.unkeyed });
  return { fresh, job, attempt, keyless, noKey };
}

export const creates = (effects: readonly { kind: string }[]): number =>
  effects.filter(({ kind }) => kind === 'create').length;
