import type {
  ConfigContent,
  FieldFilter,
  FieldSetting,
  ReadObjectConfig,
  WriteObjectConfig,
} from '@svc/client';
import { memberOf } from './member.ts';

/** One change of a config that nobody saved yet. */
export type Edit =
  | { on: 'read'; object: string; set: ReadEdit }
  | { on: 'write'; object: string; set: WriteEdit }
  | { on: 'proxy'; enabled: boolean };

export type ReadEdit =
  | { kind: 'enabled'; enabled: boolean }
  | { kind: 'field'; fieldName: string; selected: boolean }
  | { kind: 'fields'; fieldNames: readonly string[]; selected: boolean }
  | { kind: 'mapping'; mapToName: string; fieldName: string | undefined }
  | { kind: 'values'; fieldName: string; values: Readonly<Record<string, string>> | undefined }
  | { kind: 'filters'; filters: readonly FieldFilter[] }
  | { kind: 'backfill'; period: { days: number } | { fullHistory: true } | undefined };

export type WriteEdit =
  | { kind: 'enabled'; enabled: boolean }
  | { kind: 'deletion'; enabled: boolean }
  | { kind: 'settings'; fieldName: string; settings: FieldSetting | undefined };

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * The config after an edit; the one before stays as it is. An object that is not read is kept with what was chosen of it, unless `saved`,
 * the config in force, never had it: svc refuses one of which nothing is chosen.
 */
export function applyEdit(draft: ConfigContent, edit: Edit, saved?: ConfigContent): ConfigContent {
  if (edit.on === 'proxy') return { ...draft, proxy: { enabled: edit.enabled } };
  if (edit.on === 'read') {
    const before = draft.read?.objects ?? {};
    const key = keyOf(before, edit.object);
    const isLeft = isOff(edit.set) && saved !== undefined && readConfigOf(saved, edit.object) === undefined;
    const config = isLeft
      ? undefined
      : editedRead(memberOf(before, key) ?? { objectName: edit.object }, edit.set);
    return { ...draft, read: { ...draft.read, objects: withEntry(before, key, config) } };
  }
  const before = draft.write?.objects ?? {};
  const key = keyOf(before, edit.object);
  const config = isOff(edit.set)
    ? undefined
    : editedWrite(memberOf(before, key) ?? { objectName: edit.object }, edit.set);
  return { ...draft, write: { ...draft.write, objects: withEntry(before, key, config) } };
}

const isOff = (set: ReadEdit | WriteEdit): boolean => set.kind === 'enabled' && !set.enabled;

/** Objects are compared without regard to case, as svc does. */
export function keyOf(objects: Readonly<Record<string, { objectName: string }>>, objectName: string): string {
  const folded = objectName.toLowerCase();
  const found = Object.entries(objects).find(([, config]) => config.objectName.toLowerCase() === folded);
  return found?.[0] ?? objectName;
}

export function readConfigOf(draft: ConfigContent, object: string): ReadObjectConfig | undefined {
  const objects = draft.read?.objects ?? {};
  return memberOf(objects, keyOf(objects, object));
}

export function writeConfigOf(draft: ConfigContent, object: string): WriteObjectConfig | undefined {
  const objects = draft.write?.objects ?? {};
  return memberOf(objects, keyOf(objects, object));
}

function editedRead(config: ReadObjectConfig, set: ReadEdit): ReadObjectConfig {
  const next: Mutable<ReadObjectConfig> = { ...config };
  switch (set.kind) {
    case 'enabled':
      if (set.enabled) delete next.disabled;
      else next.disabled = true;
      return next;
    case 'field':
      return editedRead(config, { kind: 'fields', fieldNames: [set.fieldName], selected: set.selected });
    case 'fields':
      next.selectedFields = withFields(config.selectedFields, set.fieldNames, set.selected);
      return next;
    case 'mapping':
      next.selectedFieldMappings = withEntry(config.selectedFieldMappings, set.mapToName, set.fieldName);
      return next;
    case 'values':
      next.selectedValueMappings = withEntry(
        config.selectedValueMappings,
        set.fieldName,
        set.values && { ...set.values },
      );
      return next;
    case 'filters':
      if (set.filters.length > 0) next.fieldFilters = [...set.filters];
      else delete next.fieldFilters;
      return next;
    case 'backfill':
      if (set.period) next.backfill = { ...config.backfill, defaultPeriod: set.period };
      else delete next.backfill;
  }
  return next;
}

function editedWrite(config: WriteObjectConfig, set: WriteEdit): WriteObjectConfig {
  switch (set.kind) {
    case 'deletion':
      return { ...config, deletionSettings: { enabled: set.enabled } };
    case 'settings':
      return {
        ...config,
        selectedFieldSettings: withEntry(config.selectedFieldSettings, set.fieldName, set.settings),
      };
    case 'enabled':
  }
  return config;
}

function withEntry<Value>(
  map: Readonly<Record<string, Value>> | undefined,
  key: string,
  value: Value | undefined,
): Record<string, Value> {
  const entries = new Map(Object.entries(map ?? {}));
  if (value === undefined) entries.delete(key);
  else entries.set(key, value);
  // fromEntries defines members, so that a field called __proto__ is one like any other.
  return Object.fromEntries(entries);
}

function withFields(
  fields: Readonly<Record<string, boolean>> | undefined,
  names: readonly string[],
  selected: boolean,
): Record<string, boolean> {
  const changed = new Set(names);
  const kept = Object.entries(fields ?? {}).filter(([name]) => !changed.has(name));
  return Object.fromEntries([...kept, ...(selected ? names.map((name) => [name, true] as const) : [])]);
}
