import type { DynamicMapping, HydratedReadObject, HydratedRevision } from '@svc/client';
import { memberOf } from './member.ts';

/** Mappings that the builder offers besides those of the manifest, by object. */
export type OfferedMappings = Readonly<Record<string, readonly DynamicMapping[]>>;

/** What can be offered, and what the builder reads of the rest. */
interface Checked<Value> {
  value: Value;
  faults: string[];
}

/** What `fieldMapping` offers: a builder's JavaScript may hold anything, and what is no mapping is left out. */
export function offeredIn(given: unknown): Checked<OfferedMappings> {
  const objects = Object.entries(Object(given ?? {}) as Record<string, unknown>).map(
    ([name, list]) => [name, eachIn(list, `fieldMapping.${name}`, mappingIn)] as const,
  );
  return {
    value: Object.fromEntries(objects.map(([name, { value }]) => [name, value])),
    faults: objects.flatMap(([, { faults }]) => faults),
  };
}

type Check<Value> = (given: Record<string, unknown>, path: string) => Checked<Value | undefined>;

function eachIn<Value>(list: unknown, path: string, check: Check<Value>): Checked<Value[]> {
  if (!Array.isArray(list)) return { value: [], faults: [`${path} is no list`] };
  const checked = list.map((one: unknown, index) =>
    check(Object(one) as Record<string, unknown>, `${path}[${index}]`),
  );
  return {
    value: checked.flatMap(({ value }) => value ?? []),
    faults: checked.flatMap(({ faults }) => faults),
  };
}

const mappingIn: Check<DynamicMapping> = (given, path) => {
  const { mappedValues } = given;
  const values =
    mappedValues === undefined ? undefined : eachIn(mappedValues, `${path}.mappedValues`, valueIn);
  const faults = [
    ...noText(given, path, ['mapToName']),
    ...noText(
      given,
      path,
      ['mapToDisplayName', 'prompt', 'fieldName'].filter((name) => given[name] !== undefined),
    ),
  ];
  const mapping = { ...given, ...(values ? { mappedValues: values.value } : {}) } as DynamicMapping;
  return {
    value: faults.length === 0 ? mapping : undefined,
    faults: faults.concat(values?.faults ?? []),
  };
};

const valueIn: Check<NonNullable<DynamicMapping['mappedValues']>[number]> = (given, path) => {
  const faults = noText(given, path, ['mappedValue', 'mappedDisplayValue']);
  const { mappedValue, mappedDisplayValue } = given as Record<string, string>;
  return {
    value:
      faults.length === 0
        ? { mappedValue: `${mappedValue}`, mappedDisplayValue: `${mappedDisplayValue}` }
        : undefined,
    faults,
  };
};

const noText = (given: Record<string, unknown>, path: string, names: readonly string[]): string[] =>
  names
    .filter((name) => typeof memberOf(given, name) !== 'string')
    .map((name) => `${path}.${name} is no text`);

/** Those whose name nobody has before: the manifest's hold, and of two the first. */
export function freshIn(
  { requiredFields = [], optionalFields = [] }: HydratedReadObject,
  offered: readonly DynamicMapping[],
): DynamicMapping[] {
  // Names compare as svc compares them.
  const taken = new Set(
    [...requiredFields, ...optionalFields].map(({ mapToName }) => mapToName?.toLowerCase()),
  );
  return offered.filter(({ mapToName }) => {
    const name = mapToName.toLowerCase();
    return !taken.has(name) && taken.add(name);
  });
}

/** What of it is not asked for, since its name is another one's. */
export function takenIn({ content }: HydratedRevision, offered: OfferedMappings): string[] {
  return (content.read?.objects ?? []).flatMap((object) => {
    const all = memberOf(offered, object.objectName) ?? [];
    const fresh = freshIn(object, all);
    return all
      .filter((one) => !fresh.includes(one))
      .map(({ mapToName }) => `fieldMapping.${object.objectName}: "${mapToName}" is asked for already`);
  });
}
