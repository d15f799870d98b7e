import { warned, type Finding, type Path } from '../manifest/finding.ts';
import type { DeployImpact, ManifestField, ManifestIntegration, ManifestReadObject } from '../schema.ts';
import type { IntegrationPlan } from './deploy-plan.ts';
import { withRetained, type RetainedObject } from './retained.ts';

/** A customer selected the field, or did not: then it is read where it is required. */
export type ReadingCase = 'selected' | 'unselected';

/** What a deploy may mean to some installations: to those that are as it says. */
export interface Question {
  kind: Exclude<DeployImpact['kind'], 'lacksScope'>;
  action: 'read' | 'write' | 'proxy';
  /** Of reading and writing. */
  objectName?: string;
  /** What is lost or missing of the object, by the name under which it is delivered. */
  field?: string;
  /** Whether their config names the object; both unless told. */
  named?: boolean;
  /** Where no config names the object: those that are as old as this have it. */
  until: string;
  /** Which of them, by what they say of this field of the provider. */
  reading?: { fieldName: string; cases: ReadingCase[] };
  /** Not those that read all fields, which are delivered by the provider's names. */
  unlessAll?: boolean;
  /** Not those that mapped a field of their own to this name. */
  unlessMapped?: string;
  /** Not those whose config has a value of its own for this key, or switches the proxy off. */
  unlessOwn?: 'schedule' | 'inheritMapping' | 'proxy';
  /** Under which names its records were delivered, and will be. */
  renamed?: { from: string; to: string };
  /** Where it stands in the manifest. */
  path: Path;
}

/** How many installations a question is true of, how many of them name the object, and the newest of them. */
export interface Answer {
  count: number;
  named: number;
  installations: DeployImpact['installations'];
}

/** Of a change that takes away more than this, the rest is not looked at. */
export const mostQuestions = 500;
export const mostShown = 20;

type Update = Pick<
  Extract<IntegrationPlan, { change: 'updated' }>,
  'content' | 'index' | 'live' | 'takenAway'
>;

/** What to ask of the installations of an integration that a deploy changes. Pure. */
export function questionsOf(
  { content, index, live, takenAway }: Update,
  { destructive, at }: { destructive: boolean; at: string },
): Question[] {
  const { latestRevision: before } = live;
  const were = withRetained(before, () => true);
  const earlier = byName(were.read?.objects ?? []);
  const read = (content.read?.objects ?? []).flatMap((after, place) => {
    const path = ['integrations', index, 'read', 'objects', place];
    return aboutObject(earlier.get(lower(after.objectName)), after, { path, until: at });
  });
  return [
    ...takenAway.map((taken) => aboutTaken(taken, { destructive, index })),
    ...read,
    ...aboutMappings(were, content, { index, until: at }),
    ...aboutProxy(before.content, content, { index, until: at }),
  ];
}

/** Objects that are written, and no longer by the names that the mapping of what is read gives. */
function aboutMappings(
  before: ManifestIntegration,
  after: ManifestIntegration,
  { index, until }: { index: number; until: string },
): Question[] {
  const read = byName(before.read?.objects ?? []);
  const written = byName(before.write?.objects ?? []);
  return (after.write?.objects ?? []).flatMap(({ objectName, inheritMapping }, place): Question[] => {
    const key = lower(objectName);
    if (inheritMapping || !written.get(key)?.inheritMapping || !read.has(key)) return [];
    const path = ['integrations', index, 'write', 'objects', place];
    return [{ kind: 'losesMapping', action: 'write', objectName, until, unlessOwn: 'inheritMapping', path }];
  });
}

function aboutProxy(
  before: ManifestIntegration,
  after: ManifestIntegration,
  { index, until }: { index: number; until: string },
): Question[] {
  if (!before.proxy?.enabled || after.proxy?.enabled) return [];
  const path = ['integrations', index, 'proxy'];
  return [{ kind: 'losesProxy', action: 'proxy', until, unlessOwn: 'proxy', path }];
}

function aboutTaken(
  { action, object, at }: RetainedObject,
  { destructive, index }: { destructive: boolean; index: number },
): Question {
  const does = { read: ['keepsReading', 'stopsReading'], write: ['keepsWriting', 'stopsWriting'] } as const;
  // What no config names may be written all the same, and is read only where it is read for all.
  const isForAll = action === 'write' || ('enabled' in object && object.enabled === 'always');
  return {
    kind: does[action][destructive ? 1 : 0],
    action,
    objectName: object.objectName,
    ...(isForAll ? {} : { named: true }),
    until: at,
    path: ['integrations', index, action],
  };
}

function aboutObject(
  before: ManifestReadObject | undefined,
  after: ManifestReadObject,
  at: Pick<Question, 'path' | 'until'>,
): Question[] {
  const about = (more: Lost & Pick<Question, 'named' | 'renamed' | 'unlessOwn'>): Question => ({
    action: 'read',
    objectName: after.objectName,
    ...at,
    ...more,
  });
  const [wasForAll, isForAll] = [before, after].map((object) => object?.enabled === 'always');
  const readers = isForAll ? {} : { named: true };
  const asked = (after.requiredFields ?? []).flatMap(({ fieldName, mapToName }) =>
    fieldName === undefined && mapToName !== undefined ? [mapToName] : [],
  );
  const missing = asked.map((field) =>
    about({ ...readers, kind: 'needsMapping', field, unlessMapped: field }),
  );
  if (!before) return [about({ ...readers, kind: 'startsReading' }), ...missing];
  const stay = isForAll && wasForAll ? {} : { named: true };
  const others = { named: false } as const;
  const renamed = { from: nameOf(before), to: nameOf(after) };
  const isRenamed = lower(renamed.from) !== lower(renamed.to);
  const isUntimed = before.schedule !== undefined && after.schedule === undefined;
  return [
    ...(isForAll && !wasForAll ? [about({ ...others, kind: 'startsReading' })] : []),
    ...(wasForAll && !isForAll ? [about({ ...others, kind: 'stopsReading' })] : []),
    ...(isRenamed ? [about({ ...stay, kind: 'renamesObject', renamed })] : []),
    ...(isUntimed ? [about({ ...stay, kind: 'losesSchedule', unlessOwn: 'schedule' })] : []),
    ...lostFields(before, after).map((lost) => about({ ...stay, ...lost })),
    ...missing,
  ];
}

/** Under which its records are delivered. */
const nameOf = ({ objectName, mapToName }: ManifestReadObject): string => mapToName ?? objectName;

type Lost = Pick<Question, 'kind' | 'field' | 'reading' | 'unlessAll' | 'unlessMapped'>;
const readingCases = ['selected', 'unselected'] as const;

/** Names under which fields were delivered and will not be. What a customer selected or mapped goes on being delivered. */
function lostFields(before: ManifestReadObject, after: ManifestReadObject): Lost[] {
  const [was, is] = [entriesOf(before), entriesOf(after)];
  const promised = new Set(
    [...is.values()].flatMap(({ isRequired, name }) => (isRequired ? lower(name) : [])),
  );
  return [...new Map([...is, ...was])].flatMap(([key, { fieldName }]) => {
    const unnamed = { fieldName, name: fieldName, isRequired: false };
    const [old, next] = [was.get(key) ?? unnamed, is.get(key) ?? unnamed];
    const lost = new Map<string, ReadingCase[]>();
    for (const reading of readingCases) {
      const name = deliveredAs(old, reading);
      if (name === undefined || name === deliveredAs(next, reading) || promised.has(lower(name))) continue;
      lost.set(name, [...(lost.get(name) ?? []), reading]);
    }
    return [...lost].map(([name, cases]) => ({
      kind: 'losesField' as const,
      field: name,
      reading: { fieldName, cases },
      unlessAll: name === fieldName,
      unlessMapped: name,
    }));
  });
}

/** The name under which the field is delivered, if it is. */
function deliveredAs({ name, isRequired }: Entry, reading: ReadingCase): string | undefined {
  return isRequired || reading === 'selected' ? name : undefined;
}

/** What is told of a deploy: of each question that is true of somebody. */
export function impactsOf(questions: readonly Question[], answers: readonly Answer[]): DeployImpact[] {
  return answered(questions, answers).map(([question, answer]) => impactOf(question, answer));
}

function impactOf({ kind, objectName, field }: Question, { count, installations }: Answer): DeployImpact {
  return {
    kind,
    ...(objectName === undefined ? {} : { object: objectName }),
    ...(field === undefined ? {} : { field }),
    count,
    installations,
  };
}

/** A warning for what installations that exist keep without it being declared, lose, or lack from now on. */
export function warningsOf(questions: readonly Question[], answers: readonly Answer[]): Finding[] {
  return answered(questions, answers).flatMap(([question, answer]) => warningOf(question, answer) ?? []);
}

function warningOf(question: Question, answer: Answer): Finding | undefined {
  const { kind, objectName = '', field = '', renamed, path } = question;
  const whom = `${answer.count} ${answer.count === 1 ? 'installation' : 'installations'}`;
  const name = `${objectName}.${field}`;
  if (kind === 'startsReading') return undefined;
  if (kind === 'losesField') return warned('field-taken-away', path, `${whom} will not get ${name} any more`);
  const ending = endings[kind];
  if (ending) return warned(ending.rule, path, ending.said(objectName, whom));
  if (renamed) return warned('object-renamed', path, ofRenamed(objectName, renamed, whom));
  if (kind !== 'needsMapping') return warned('object-taken-away', path, ofObject(question, answer, whom));
  const until = 'get nothing under that name until the customer does';
  return warned('mapping-missing', path, `${whom} mapped no field to ${name}, and ${until}`);
}

const endings: Partial<
  Record<Question['kind'], { rule: string; said: (objectName: string, whom: string) => string }>
> = {
  losesSchedule: {
    rule: 'schedule-taken-away',
    said: (name, whom) =>
      `${name} is no longer read by a schedule in ${whom}, whose config has none of its own`,
  },
  losesMapping: {
    rule: 'mapping-taken-away',
    said: (name, whom) =>
      `writes of ${name} take the provider's names of fields only from now on for ${whom}`,
  },
  losesProxy: {
    rule: 'proxy-taken-away',
    said: (_, whom) => `calls through the proxy are refused from now on for ${whom}`,
  },
};

function ofRenamed(objectName: string, { from, to }: { from: string; to: string }, whom: string): string {
  return `${whom} will get ${objectName} as ${to}, and as ${from} no more: a table of that name holds what changes from now on, and the rest once everything is read anew`;
}

function ofObject(question: Question, { count, named }: Answer, whom: string): string {
  const { kind, action, objectName = '' } = question;
  if (question.named === false)
    return `${objectName} is not read for every installation any more: its reads pause in ${whom}, whose config does not name it`;
  const what: Record<string, string> = {
    stopsReading: 'its reads pause there from now on',
    stopsWriting: 'its writes are refused there from now on',
  };
  const label = `${action}.${objectName}`;
  const goesOn = 'it goes on there as it was; deploy with destructive=true to end it';
  return `the manifest no longer holds ${label}, which ${whom} ${count === 1 ? 'has' : 'have'} (${named} of them in the config): ${what[kind] ?? goesOn}`;
}

function answered(questions: readonly Question[], answers: readonly Answer[]): [Question, Answer][] {
  return questions.flatMap((question, n) => {
    const answer = answers[n];
    return answer && answer.count > 0 ? [[question, answer] as [Question, Answer]] : [];
  });
}

/** A field of the provider as the manifest has it. */
interface Entry {
  fieldName: string;
  name: string;
  isRequired: boolean;
}

/** Fields that the manifest names, by their names in lower case; one that is also required is required. */
function entriesOf({ requiredFields = [], optionalFields = [] }: ManifestReadObject): Map<string, Entry> {
  const entries = (fields: readonly ManifestField[], isRequired: boolean): [string, Entry][] =>
    fields.flatMap(({ fieldName, mapToName }) =>
      fieldName === undefined
        ? []
        : [[lower(fieldName), { fieldName, name: mapToName ?? fieldName, isRequired }]],
    );
  return new Map([...entries(optionalFields, false), ...entries(requiredFields, true)]);
}

const lower = (text: string): string => text.toLowerCase();

function byName<Of extends { objectName: string }>(objects: readonly Of[]): Map<string, Of> {
  return new Map(objects.toReversed().map((object) => [lower(object.objectName), object]));
}
