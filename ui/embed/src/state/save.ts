import type {
  ConfigContent,
  FieldMetadata,
  HydratedReadObject,
  HydratedRevision,
  ProblemIssue,
  ReadObjectConfig,
  UpdateInstallationRequest,
} from '@svc/client';
import { readConfigOf } from './draft.ts';
import { rulesOf } from './rules.ts';
import { mappingQuestions, translatedBy, type MappingQuestion } from './questions.ts';
import type { OfferedMappings } from './offered.ts';
import { memberOf } from './member.ts';

/** What stands at a field of the form: where, and what is wrong, by a key of the catalogue of texts or in svc's words. */
export interface FormIssue {
  /** `read/<object>/mapping/<mapToName>`, `read/<object>/filter/<index>`, `read/<object>`, `write/<object>/settings/<fieldName>`, or `form`. */
  at: string;
  text:
    | 'mappingMissing'
    | 'mappingReversed'
    | 'fieldTranslated'
    | 'nothingChosen'
    | 'valueTwice'
    | 'filterEmpty'
    | 'numberNeeded'
    | 'integerNeeded'
    | 'dateNeeded'
    | 'timeNeeded'
    | 'vanished'
    | 'vanishedChosen'
    | 'filterVanished'
    | 'ruleVanished'
    | { said: string };
  /** What the text has in braces. */
  values?: Readonly<Record<string, string>>;
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
  const reads = (revision.content.read?.objects ?? []).flatMap((object) => {
    const config = readConfigOf(draft, object.objectName);
    if (!config || config.disabled) return [];
    const at = `read/${object.objectName}`;
    const questions = mappingQuestions(object, memberOf(offered, object.objectName));
    const asked = questions.filter(({ mapToName }) => !memberOf(config.selectedFieldMappings, mapToName));
    const reversed = reversedIn(object, questions, config);
    const missing = asked
      .filter(({ isRequired, mapToName }) => isRequired || reversed.has(mapToName))
      .map(({ mapToName }): FormIssue => ({
        at: `${at}/mapping/${mapToName}`,
        text: reversed.has(mapToName) ? 'mappingReversed' : 'mappingMissing',
      }));
    const translated = questions.flatMap((question): FormIssue[] => {
      const translator = translatedBy(question, questions, config);
      const values = translator && { name: translator.label };
      return values ? [{ at: `${at}/mapping/${question.mapToName}`, text: 'fieldTranslated', values }] : [];
    });
    const isEmpty =
      missing.length === 0 && !choosesSomething(config) && (object.requiredFields ?? []).length === 0;
    const empty: FormIssue[] = isEmpty ? [{ at, text: 'nothingChosen' }] : [];
    return missing.concat(translated, valueIssues(at, config), filterIssues(at, config, object), empty);
  });
  return reads.concat(defaultIssues(draft, revision, offered));
}

/** A field of numbers takes nothing else. */
function numberIssue(at: string, text: unknown, field: FieldMetadata | undefined): FormIssue[] {
  const isWhole = field?.valueType === 'int';
  if ((!isWhole && field?.valueType !== 'float') || typeof text !== 'string' || text === '') return [];
  const isOne = isWhole ? /^-?\d+$/.test(text) : /^-?\d+(\.\d+)?$/.test(text);
  return isOne ? [] : [{ at, text: isWhole ? 'integerNeeded' : 'numberNeeded' }];
}

const isoTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** A field of dates or times takes ISO 8601, or milliseconds since the epoch (docs/guides/read.md). */
function timeIssue(at: string, text: unknown, field: FieldMetadata | undefined): FormIssue[] {
  const isDate = field?.valueType === 'date';
  if ((!isDate && field?.valueType !== 'datetime') || typeof text !== 'string') return [];
  const isOne = /^-?\d{9,}$/.test(text) || (isoTime.test(text) && !Number.isNaN(Date.parse(text)));
  return isOne ? [] : [{ at, text: isDate ? 'dateNeeded' : 'timeNeeded' }];
}

function defaultIssues(
  draft: ConfigContent,
  revision: HydratedRevision,
  offered: OfferedMappings,
): FormIssue[] {
  return (revision.content.write?.objects ?? []).flatMap(({ objectName }) =>
    rulesOf({ revision, draft, objectName }, offered).flatMap(({ name, field, settings }) =>
      numberIssue(`write/${objectName}/settings/${name}`, settings.default?.stringValue, field),
    ),
  );
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
function filterIssues(
  at: string,
  { fieldFilters = [] }: ReadObjectConfig,
  { allFieldsMetadata = {} }: HydratedReadObject,
): FormIssue[] {
  return fieldFilters.flatMap(({ fieldName, value }, index): FormIssue[] => {
    const place = `${at}/filter/${index}`;
    if (value === '') return [{ at: place, text: 'filterEmpty' }];
    const field = memberOf(allFieldsMetadata, fieldName);
    return numberIssue(place, value, field).concat(timeIssue(place, value, field));
  });
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
    Object.keys(now).filter((key) => !same(memberOf(now, key), memberOf(before, key)));
  const named = (['read', 'subscribe'] as const).flatMap((action) =>
    changed(draft[action]?.objects, base[action]?.objects).map(
      (key) => `config.content.${action}.objects.${key.replace(/[\\.:]/g, String.raw`\$&`)}`,
    ),
  );
  const isWriteChanged = !same(draft.write?.objects ?? {}, base.write?.objects ?? {});
  return [
    ...named,
    ...(isWriteChanged ? ['config.content.write.objects'] : []),
    ...(isProxied(draft) !== isProxied(base) ? ['config.content.proxy.enabled'] : []),
  ];
}

export function updateOf(
  { read, write, subscribe, proxy }: ConfigContent,
  masks: readonly string[],
  consumerRef: string,
): UpdateInstallationRequest {
  return {
    updateMask: [...masks, 'config.createdBy'],
    installation: {
      config: {
        createdBy: `consumer:${consumerRef}`,
        content: {
          ...(read ? { read } : {}),
          ...(write ? { write } : {}),
          ...(subscribe ? { subscribe } : {}),
          ...(proxy ? { proxy } : {}),
        },
      },
    },
  };
}

export type Merge =
  | { kind: 'merged'; content: ConfigContent }
  /** What both changed: objects, as `read/contacts`, and `proxy`. */
  | { kind: 'conflict'; objects: string[] };

type Choose = <Value>(at: string, b: Value, m: Value, t: Value) => Value;
type Read = ReadObjectConfig | undefined;

/** Whether an object is read is merged apart from what is read of it: a pause holds, whoever changed the fields meanwhile. */
const choosingRead =
  (chosen: Choose) =>
  (at: string, b: Read, m: Read, t: Read): Read => {
    if (!b || !m || !t || same(m, b) || same(t, b) || same(m, t)) return chosen(at, b, m, t);
    const [before, mine, theirs] = [fieldsIn(b), fieldsIn(m), fieldsIn(t)];
    const fields = chosen(at, before, mine, theirs);
    // Theirs was taken of what both changed: it holds whole.
    if (fields === theirs && !same(mine, before)) return t;
    const isOff = isHeld(m) === isHeld(b) ? isHeld(t) : isHeld(m);
    return isOff ? { ...fields, disabled: true } : fields;
  };

const isHeld = ({ disabled }: ReadObjectConfig): boolean => disabled === true;
const fieldsIn = ({ disabled: _held, ...fields }: ReadObjectConfig): ReadObjectConfig => fields;

/**
 * My changes on what somebody else saved meanwhile, object by object, and whether it is read by itself; of an object that both changed in
 * different ways `prefer` says whose holds, and without it the merge is a conflict.
 */
export function mergeDrafts(
  base: ConfigContent,
  mine: ConfigContent,
  theirs: ConfigContent,
  prefer?: 'mine' | 'theirs',
): Merge {
  const conflicts: string[] = [];
  const chosen: Choose = (at, b, m, t) => {
    const isMine = !same(m, b);
    const isConflict = isMine && !same(t, b) && !same(m, t);
    if (isConflict && prefer === undefined) conflicts.push(at);
    return isMine && !(isConflict && prefer === 'theirs') ? m : t;
  };
  const merged = <Config>(
    action: string,
    of: (content: ConfigContent) => Record<string, Config> | undefined,
    choose: (at: string, b?: Config, m?: Config, t?: Config) => Config | undefined = chosen,
  ): Record<string, Config> => {
    const [b, m, t] = [of(base) ?? {}, of(mine) ?? {}, of(theirs) ?? {}];
    const keys = [...new Set([...Object.keys(t), ...Object.keys(m)])];
    return Object.fromEntries(
      keys.flatMap((key) => {
        const one = choose(`${action}/${key}`, memberOf(b, key), memberOf(m, key), memberOf(t, key));
        return one === undefined ? [] : [[key, one] as const];
      }),
    );
  };
  const read = merged('read', (content) => content.read?.objects, choosingRead(chosen));
  const write = merged('write', (content) => content.write?.objects);
  const subscribe = merged('subscribe', (content) => content.subscribe?.objects);
  const proxy = chosen('proxy', base.proxy, mine.proxy, theirs.proxy);
  if (conflicts.length > 0) return { kind: 'conflict', objects: conflicts };
  const { proxy: _theirs, ...rest } = theirs;
  return {
    kind: 'merged',
    content: {
      ...rest,
      ...(theirs.read || mine.read ? { read: { objects: read } } : {}),
      ...(theirs.write || mine.write ? { write: { objects: write } } : {}),
      ...(theirs.subscribe || mine.subscribe ? { subscribe: { objects: subscribe } } : {}),
      ...(proxy ? { proxy } : {}),
    },
  };
}

/**
 * What was asked is answered for the objects that both changed; other changes, mine and theirs, hold in any case. Without a `base` they
 * installed and this page was about to, so one of both holds whole: what only they read is then not read.
 */
export function decided(
  base: ConfigContent | undefined,
  mine: ConfigContent,
  theirs: ConfigContent,
  whose: 'mine' | 'theirs',
): ConfigContent {
  const merge = base && mergeDrafts(base, mine, theirs, whose);
  if (merge?.kind === 'merged') return merge.content;
  if (whose === 'theirs') return theirs;
  const others = Object.entries(theirs.read?.objects ?? {}).filter(
    ([, { objectName }]) => !readConfigOf(mine, objectName),
  );
  if (others.length === 0) return mine;
  const unread = others.map(([key, config]) => [key, { ...config, disabled: true }] as const);
  return { ...mine, read: { objects: { ...mine.read?.objects, ...Object.fromEntries(unread) } } };
}

/** A config that was sent; `isAlone`: one change of what is installed, by itself. */
export interface Attempt {
  content: ConfigContent;
  isAlone: boolean;
}

/**
 * What to send upon what is in force, where this page sent that itself and never heard of it; undefined where somebody else made it. What
 * was entered since then holds. One change by itself takes nothing back, and is not taken back.
 */
export function uponOwn(
  base: ConfigContent,
  mine: Attempt,
  theirs: ConfigContent,
  lost: readonly Attempt[],
): ConfigContent | undefined {
  const own = lost.find(({ content }) => differences(content, theirs).length === 0);
  if (!own) return undefined;
  if (!own.isAlone && !mine.isAlone) return decided(undefined, mine.content, theirs, 'mine');
  const merge = mergeDrafts(base, mine.content, theirs, 'mine');
  return merge.kind === 'merged' ? merge.content : undefined;
}

const isProxied = ({ proxy }: ConfigContent): boolean => proxy?.enabled ?? false;

/** What differs: objects, as `read/contacts`, and `proxy`. */
export function differences(mine: ConfigContent, theirs: ConfigContent): string[] {
  const objects = (['read', 'write', 'subscribe'] as const).flatMap((action) => {
    const [m, t] = [mine[action]?.objects ?? {}, theirs[action]?.objects ?? {}];
    // What one subscribes to is not asked for in the form: who does not name it has nothing against it.
    const keys = [...new Set([...(action === 'subscribe' ? [] : Object.keys(t)), ...Object.keys(m)])];
    return keys
      .filter((key) => !same(memberOf<unknown>(m, key), memberOf<unknown>(t, key)))
      .map((key) => `${action}/${key}`);
  });
  return isProxied(mine) === isProxied(theirs) ? objects : [...objects, 'proxy'];
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
  const kind = member === undefined ? undefined : memberOf(members, member);
  if (kind === undefined || inner === undefined) return `${action}/${object}`;
  const field = action === 'write' ? inner.replace(/\.(default|writeOnCreate|writeOnUpdate).*$/, '') : inner;
  return `${action}/${object}/${kind}/${field}`;
}
