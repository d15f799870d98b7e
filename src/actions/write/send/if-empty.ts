import type { Connector, CurrentFieldsAbility, RecordOutcome } from '../../../providers/index.ts';
import { refusalOf } from './by-fields.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import type { WriteContext, WriteJob } from './job.ts';
import { readCurrent, type Current } from './read-current.ts';

/** The read that comes before the writes of records with `ifEmpty` fields; undefined where there are none. */
export function readBefore(
  records: Iterable<PlannedRecord>,
  { currentFields: ability }: Connector,
): { ability: CurrentFieldsAbility; ids: string[]; fields: string[] } | undefined {
  const conditional = [...records].filter(isConditional);
  if (conditional.length === 0 || !ability) return undefined;
  return {
    ability,
    ids: [...new Set(conditional.map(({ id }) => id ?? ''))],
    fields: [...new Set(conditional.flatMap(({ ifEmpty }) => ifEmpty ?? []))],
  };
}

function isConditional({ ifEmpty = [] }: PlannedRecord): boolean {
  return ifEmpty.length > 0;
}

/** Reads what the `ifEmpty` fields hold now; undefined where there are none. Conditional upserts are looked up by their key. */
export async function lookAt(
  job: WriteJob,
  records: ReadonlyMap<number, PlannedRecord>,
  context: WriteContext,
): Promise<Current | undefined> {
  const read = job.kind === 'upsert' ? undefined : readBefore(records.values(), context.connector);
  return read && readCurrent(read.ability, job.objectName, read.ids, read.fields, context);
}

/** What the look told of merges. */
export function mergesIn(current: Current | undefined): Iterable<[string, string]> {
  return current && 'found' in current ? (current.merged ?? []) : [];
}

/** Leaves out the `ifEmpty` fields that hold something. */
export function withoutFilledFields(
  job: WriteJob,
  records: ReadonlyMap<number, PlannedRecord>,
  current: Current | undefined,
  { currentFields: ability }: Connector,
  outcomes: Map<number, RecordOutcome>,
): Map<number, PlannedRecord> {
  const toSend = new Map(records);
  if (current && ability) {
    for (const [slot, record] of [...toSend].filter(([, one]) => isConditional(one))) {
      const outcome = applyCurrent(ability, record, current, (left) => toSend.set(slot, left));
      if (!outcome) continue;
      outcomes.set(slot, outcome);
      toSend.delete(slot);
    }
  }
  for (const slot of emptyUpdates(job, toSend)) {
    const id = toSend.get(slot)?.id;
    if (id !== undefined) outcomes.set(slot, { kind: 'applied', recordId: id, data: { id } });
    toSend.delete(slot);
  }
  return toSend;
}

function applyCurrent(
  ability: CurrentFieldsAbility,
  record: PlannedRecord,
  current: Current,
  keep: (left: PlannedRecord) => void,
): RecordOutcome | undefined {
  if ('failure' in current) return { kind: 'notApplied', failure: current.failure };
  const refused = refusalOf(record.ifEmpty, current);
  if (refused) return { kind: 'notApplied', failure: refused };
  const values = current.found.get(record.id ?? '');
  if (!values) {
    return {
      kind: 'notApplied',
      failure: { category: 'notFound', retryable: false, message: `there is no record ${record.id}` },
    };
  }
  const filled = new Set((record.ifEmpty ?? []).filter((name) => !ability.isEmpty(values[name])));
  keep({
    ...record,
    fields: Object.fromEntries(Object.entries(record.fields).filter(([name]) => !filled.has(name))),
  });
  return undefined;
}

/** Updates that have nothing left to write: they succeed without a call. */
export function emptyUpdates(job: WriteJob, toSend: ReadonlyMap<number, PlannedRecord>): number[] {
  if (job.kind !== 'update') return [];
  return [...toSend]
    .filter(([, { id, fields }]) => id !== undefined && Object.keys(fields).length === 0)
    .map(([slot]) => slot);
}
