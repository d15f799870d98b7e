import type { PlannedRecord } from '../prepare/stored.ts';

/** Whether what is sent of it depends on what stands at the provider. */
function isConditional({ ifEmpty = [], onUpdate }: PlannedRecord): boolean {
  return ifEmpty.length > 0 || onUpdate !== undefined;
}

/** Records that are looked at and sent one turn after another: a look at a record sees what was written of it before. */
export function turnsOf(
  records: ReadonlyMap<number, PlannedRecord>,
  idAt: (slot: number) => string | undefined,
): Map<number, PlannedRecord>[] {
  const turns: Map<number, PlannedRecord>[] = [];
  const lastOf = new Map<string, number>();
  for (const [slot, record] of records) {
    const id = idAt(slot);
    const before = id === undefined ? undefined : lastOf.get(id);
    const at = before === undefined ? 0 : isConditional(record) ? before + 1 : before;
    const turn = (turns[at] ??= new Map<number, PlannedRecord>());
    turn.set(slot, record);
    if (id !== undefined) lastOf.set(id, at);
  }
  return turns;
}
