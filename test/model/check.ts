import type { Stored } from './store.ts';
import { longestWaitMs, type Known, type World } from './world.ts';

/** What must hold of every record at any time, and of those that have ended. */
export function check(world: World, stored: readonly Stored[]): string[] {
  const { records, provider } = world;
  const found = [...world.violations];
  const operations = new Map(stored.map((one) => [one.operationId, one]));
  const done = Map.groupBy(provider.effects, ({ marker }) => marker);
  for (const [marker, known] of records) {
    const effects = done.get(marker) ?? [];
    const outcome = operations.get(known.operationId)?.outcomes[known.slot];
    if (known.kind === 'create' && effects.length > 1)
      found.push(`${marker} was created ${effects.length} times`);
    if (outcome?.kind === 'applied' && effects.length === 0)
      found.push(`${marker}: success, and nothing was done`);
    if (outcome?.kind === 'applied' && outcome.recordId !== undefined && effects[0]?.id !== outcome.recordId)
      found.push(`${marker}: success with the id of another record`);
    if (outcome?.kind === 'notApplied' && effects.length > 0)
      found.push(`${marker}: failure, and it was done`);
    if (outcome?.kind === 'unknown' && !known.excused) found.push(`${marker}: unknown, and nothing was lost`);
    if (outcome?.kind === 'unknown' && canBeKnown(known) && !isOverdue(world, known))
      found.push(`${marker}: unknown, and there was time to find it or to repeat it`);
  }
  return [...found, ...outOfOrder(world, operations), ...torn(world, operations, done), ...doubled(world)];
}

/** A lost create is found by its key; whatever else was lost is repeated. */
function canBeKnown({ kind, keyed }: Known): boolean {
  return kind !== 'create' || keyed;
}

/** Whether its deadline came, or may have come before its next attempt. */
function isOverdue({ clock }: World, { deadlineAt }: Known): boolean {
  return clock.latest >= deadlineAt - longestWaitMs;
}

/** All-or-none operations whose records had different outcomes. */
function torn(
  { records }: World,
  operations: ReadonlyMap<string, Stored>,
  done: ReadonlyMap<string, readonly unknown[]>,
): string[] {
  const whole = [...records].filter(([, { allOrNone }]) => allOrNone);
  const byOperation = Map.groupBy(whole, ([, { operationId }]) => operationId);
  return [...byOperation].flatMap(([operationId, members]) => {
    const outcomes = members.map(([, { slot }]) => operations.get(operationId)?.outcomes[slot]?.kind);
    const effects = members.map(([marker]) => done.get(marker)?.length ?? 0);
    const isOne = new Set(outcomes).size === 1 && new Set(effects).size === 1;
    return isOne ? [] : [`${operationId}: all or none came to ${outcomes.join(', ')}`];
  });
}

/** Values by which upserts made more than one record. */
function doubled({ records, provider }: World): string[] {
  const ids = new Map<string, Set<string>>();
  for (const { kind, marker, id } of provider.effects) {
    const value = records.get(marker)?.target?.id;
    if (kind === 'upsert' && value !== undefined) ids.set(value, (ids.get(value) ?? new Set()).add(id));
  }
  return [...ids].flatMap(([value, made]) =>
    made.size > 1 ? [`${value} was created ${made.size} times`] : [],
  );
}

/**
 * A change never comes after a later one of the same record. Changes of one operation may be repeated together, in their
 * order, when nobody knows how far an attempt of it came: between two of them an earlier one stands for a while. Once its last
 * change is told as done, it is the one that stands.
 */
function outOfOrder(
  { records, provider }: World,
  operations: ReadonlyMap<string, Pick<Stored, 'outcomes'>>,
): string[] {
  const last = new Map<string, Known>();
  const greatest = new Map<string, Known>();
  const found: string[] = [];
  for (const { marker } of provider.effects) {
    const known = records.get(marker);
    if (!known?.target) continue;
    const { id, order } = known.target;
    const before = last.get(id);
    if (before?.target && order < before.target.order && before.operationId !== known.operationId)
      found.push(`${marker} came after a later change of ${id}`);
    last.set(id, known);
    if (order >= (greatest.get(id)?.target?.order ?? 0)) greatest.set(id, known);
  }
  for (const [id, newest] of greatest) {
    const { operationId, slot } = newest;
    const stands = last.get(id);
    const isRepeated = stands?.operationId === operationId;
    const isTold = operations.get(operationId)?.outcomes[slot]?.kind === 'applied';
    if (stands !== newest && (isTold || !isRepeated)) found.push(`${id} does not hold its last change`);
  }
  return found;
}
