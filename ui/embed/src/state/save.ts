import type {
  ConfigContent,
  HydratedReadObject,
  HydratedRevision,
  Installation,
  ProblemIssue,
  ReadObjectConfig,
  UpdateInstallationRequest,
} from '@svc/client';
import { readConfigOf } from './draft.ts';
import { mappingQuestions, type MappingQuestion, type OfferedMappings } from './questions.ts';

/** What stands at a field of the form: where, and what is wrong, by a key of the catalogue of texts or in svc's words. */
export interface FormIssue {
  /** `read/<object>/mapping/<mapToName>`, `read/<object>/filter/<index>`, `read/<object>`, `write/<object>/settings/<fieldName>`, or `form`. */
  at: string;
  text:
    | 'mappingMissing'
    | 'mappingReversed'
    | 'nothingChosen'
    | 'valueTwice'
    | 'filterEmpty'
    | { said: string };
}

export type SavePlan =
  | { kind: 'create'; content: ConfigContent }
  | { kind: 'update'; updateMask: string[]; content: ConfigContent }
  | { kind: 'nothing' }
  | { kind: 'refusal'; issues: FormIssue[] };

/** What saving a draft asks svc for, or what keeps it from being asked. */
export function planSave(
  draft: ConfigContent,
  base: ConfigContent | undefined,
  revision: HydratedRevision,
  offered: OfferedMappings = {},
): SavePlan {
  const issues = issuesOf(draft, revision, offered);
  if (issues.length > 0) return { kind: 'refusal', issues };
  if (!base) return { kind: 'create', content: draft };
  const updateMask = masksOf(draft, base);
  return updateMask.length === 0 ? { kind: 'nothing' } : { kind: 'update', updateMask, content: draft };
}

/** What keeps a draft from being saved, as far as it is known here. */
export function issuesOf(
  draft: ConfigContent,
  revision: HydratedRevision,
  offered: OfferedMappings,
): FormIssue[] {
  return (revision.content.read?.objects ?? []).flatMap((object) => {
    const config = readConfigOf(draft, object.objectName);
    if (!config || config.disabled) return [];
    const at = `read/${object.objectName}`;
    const questions = mappingQuestions(object, offered[object.objectName]);
    const asked = questions.filter(({ mapToName }) => !config.selectedFieldMappings?.[mapToName]);
    const reversed = reversedIn(object, questions, config);
    const missing = asked
      .filter(({ isRequired, mapToName }) => isRequired || reversed.has(mapToName))
      .map(({ mapToName }): FormIssue => ({
        at: `${at}/mapping/${mapToName}`,
        text: reversed.has(mapToName) ? 'mappingReversed' : 'mappingMissing',
      }));
    const isEmpty =
      missing.length === 0 && !choosesSomething(config) && (object.requiredFields ?? []).length === 0;
    const empty: FormIssue[] = isEmpty ? [{ at, text: 'nothingChosen' }] : [];
    return missing.concat(valueIssues(at, config), filterIssues(at, config), empty);
  });
}

/** What is asked for and stands as a field, mapped to by a field of the account that nobody asks for. */
function reversedIn(
  { allFieldsMetadata = {} }: HydratedReadObject,
  questions: readonly MappingQuestion[],
  { selectedFieldMappings = {} }: ReadObjectConfig,
): Set<string> {
  const names = new Set(questions.map(({ mapToName }) => mapToName));
  const reversed = Object.entries(selectedFieldMappings).filter(
    ([key, fieldName]) => names.has(fieldName) && !names.has(key) && Object.hasOwn(allFieldsMetadata, key),
  );
  return new Set(reversed.map(([, fieldName]) => fieldName));
}

function choosesSomething(config: ReadObjectConfig): boolean {
  return (
    config.selectedFieldsAuto === 'all' ||
    Object.values(config.selectedFields ?? {}).some(Boolean) ||
    Object.keys(config.selectedFieldMappings ?? {}).length > 0
  );
}

/** A value of the provider's stands for one of the builder's only. */
function valueIssues(at: string, { selectedValueMappings = {} }: ReadObjectConfig): FormIssue[] {
  return Object.entries(selectedValueMappings).flatMap(([fieldName, values]) => {
    const chosen = Object.values(values);
    return new Set(chosen).size === chosen.length
      ? []
      : [{ at: `${at}/values/${fieldName}`, text: 'valueTwice' as const }];
  });
}

/** A filter without a value lets nothing through that a person would expect. */
function filterIssues(at: string, { fieldFilters = [] }: ReadObjectConfig): FormIssue[] {
  return fieldFilters.flatMap(({ value }, index) =>
    value === '' ? [{ at: `${at}/filter/${index}`, text: 'filterEmpty' as const }] : [],
  );
}

const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** A mask for each object whose config is another one; the map of written objects when one was taken out. */
export function masksOf(draft: ConfigContent, base: ConfigContent): string[] {
  const changed = (now: Record<string, unknown> = {}, before: Record<string, unknown> = {}): string[] =>
    Object.keys(now).filter((key) => !same(now[key], before[key]));
  const reads = changed(draft.read?.objects, base.read?.objects);
  const isWriteChanged = !same(draft.write?.objects ?? {}, base.write?.objects ?? {});
  const isProxyChanged = (draft.proxy?.enabled ?? false) !== (base.proxy?.enabled ?? false);
  return [
    ...reads.map((key) => `config.content.read.objects.${key.replace(/[\\.:]/g, String.raw`\$&`)}`),
    ...(isWriteChanged ? ['config.content.write.objects'] : []),
    ...(isProxyChanged ? ['config.content.proxy.enabled'] : []),
  ];
}

export function updateOf(
  { read, write, proxy }: ConfigContent,
  masks: readonly string[],
  consumerRef: string,
): UpdateInstallationRequest {
  return {
    updateMask: [...masks, 'config.createdBy'],
    installation: {
      config: {
        createdBy: `consumer:${consumerRef}`,
        content: { ...(read ? { read } : {}), ...(write ? { write } : {}), ...(proxy ? { proxy } : {}) },
      },
    },
  };
}

export type Merge =
  | { kind: 'merged'; content: ConfigContent }
  /** Objects that both changed, as `read/contacts`. */
  | { kind: 'conflict'; objects: string[] };

/** My changes on what somebody else saved meanwhile, object by object; what both changed in different ways is asked. */
export function mergeDrafts(base: ConfigContent, mine: ConfigContent, theirs: ConfigContent): Merge {
  const conflicts: string[] = [];
  const merged = <Config>(
    action: string,
    of: (content: ConfigContent) => Record<string, Config> | undefined,
  ): Record<string, Config> => {
    const [b, m, t] = [of(base) ?? {}, of(mine) ?? {}, of(theirs) ?? {}];
    const keys = [...new Set([...Object.keys(t), ...Object.keys(m)])];
    return Object.fromEntries(
      keys.flatMap((key) => {
        const isTheirs = same(m[key], b[key]);
        if (!isTheirs && !same(t[key], b[key]) && !same(m[key], t[key])) conflicts.push(`${action}/${key}`);
        const chosen = isTheirs ? t[key] : m[key];
        return chosen === undefined ? [] : [[key, chosen] as const];
      }),
    );
  };
  const read = merged('read', (content) => content.read?.objects);
  const write = merged('write', (content) => content.write?.objects);
  if (conflicts.length > 0) return { kind: 'conflict', objects: conflicts };
  const proxy = same(mine.proxy, base.proxy) ? theirs.proxy : mine.proxy;
  return {
    kind: 'merged',
    content: {
      ...theirs,
      ...(theirs.read || mine.read ? { read: { objects: read } } : {}),
      ...(theirs.write || mine.write ? { write: { objects: write } } : {}),
      ...(proxy ? { proxy } : {}),
    },
  };
}

/** Objects whose config differs, as `read/contacts`. */
export function differences(mine: ConfigContent, theirs: ConfigContent): string[] {
  return (['read', 'write'] as const).flatMap((action) => {
    const [m, t] = [mine[action]?.objects ?? {}, theirs[action]?.objects ?? {}];
    const keys = [...new Set([...Object.keys(t), ...Object.keys(m)])];
    return keys.filter((key) => !same(m[key], t[key])).map((key) => `${action}/${key}`);
  });
}

/** Where svc's issues stand in the form. */
export function issuesAt(issues: readonly Pick<ProblemIssue, 'name' | 'detail'>[]): FormIssue[] {
  return issues.map(({ name, detail }) => ({ at: placeOf(name), text: { said: detail } }));
}

const members: Record<string, string> = {
  selectedFieldMappings: 'mapping',
  selectedValueMappings: 'values',
  selectedFieldSettings: 'settings',
};

function placeOf(name: string): string {
  const [, action, rest = ''] = /content\.(read|write)\.objects\.(.*)$/.exec(name) ?? [];
  if (action === undefined) return 'form';
  const filter = /^(.*?)\.fieldFilters\[(\d+)\]/.exec(rest);
  if (filter) return `${action}/${filter[1]}/filter/${filter[2]}`;
  const [, object = rest, member, inner] = /^(.*?)\.(\w+)(?:\.(.*))?$/.exec(rest) ?? [];
  const kind = member === undefined ? undefined : members[member];
  if (kind === undefined || inner === undefined) return `${action}/${object}`;
  const field = action === 'write' ? inner.replace(/\.(default|writeOnCreate|writeOnUpdate).*$/, '') : inner;
  return `${action}/${object}/${kind}/${field}`;
}

/** Whether reads of an installation are held. */
export function isPaused({ config }: Installation): boolean {
  const objects = Object.values(config.content.read?.objects ?? {});
  return objects.length > 0 && objects.every(({ disabled }) => disabled === true);
}
