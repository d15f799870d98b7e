import { jsonDepth } from '../../../kit/json.ts';
import { problem, refuse, type Issue, type Problem } from '../../../kit/problem.ts';
import type { Limits } from '../../../kit/ground.ts';
import {
  canonicalIdOf,
  isForwardable,
  isHeaderValue,
  type Abilities,
  type Association,
  type WriteKind,
} from '../../../providers/index.ts';
import { deadlineOf } from './deadline.ts';
import { modeOf } from './mode.ts';
import {
  applyPolicies,
  compileRules,
  shapeFields,
  unsentOf,
  type CompiledRules,
  type FieldRules,
  type ShapedFields,
  type Unsent,
} from './fields.ts';
import type { WriteRequest } from '../schema.ts';
import { faultOfId, idOf, isMade, strayFields, withoutId } from './record-id.ts';
import type { PlannedRecord } from './stored.ts';
import {
  asUpsert,
  foldedKey,
  keyField,
  keyMissing,
  shapeUpsert,
  upsertByIssues,
  withoutRulesOf,
} from './upsert.ts';

/** What the planner must know about the object and the provider; all of it is data. */
export interface WriteScope {
  /** The name the provider knows the object by. */
  objectName: string;
  provider: string;
  abilities: Abilities;
  deletionEnabled: boolean;
  rules: FieldRules;
  limits: Pick<Limits, 'recordBytes' | 'nesting'>;
}

/** A write that may go out, and what of its request does not. The same plan serves both modes; only the waiting differs. */
export interface WritePlan extends Partial<Unsent> {
  kind: WriteKind;
  mode: 'synchronous' | 'asynchronous';
  form: 'single' | 'batch';
  objectName: string;
  records: PlannedRecord[];
  /** Of an upsert: the provider's field that its records go by. */
  upsertBy?: string;
  allOrNone: boolean;
  /** The provider commits what it can of this kind of batch, whatever is asked. */
  partialOnly: boolean;
  headers: { key: string; value: string }[];
  /** With `autoBatch`, from when the batch leaves; what the batch's first record says holds for all. */
  deadlineSeconds: number;
  autoBatch?: { maxDelaySeconds: number };
  /** Of a create whose answer is lost and that no unique field can find: whether it is sent again; by default not. */
  onUnknown?: 'fail' | 'retry';
}

/** Why a write may not go out. `isOfRequest`: whatever the config and the manifest say. */
interface RefusedWrite {
  refusal: Problem;
  isOfRequest?: true;
}

/** Decides: a plan, or the refusal that the caller gets. Pure. */
export function planWrite(request: WriteRequest, scope: WriteScope): { plan: WritePlan } | RefusedWrite {
  const unfit = refuseShape(request) ?? refuseHeaders(request) ?? refuseSize(request, scope);
  if (unfit) return { refusal: unfit, isOfRequest: true };
  const unable = refuseAbility(request, scope);
  if (unable) return { refusal: unable };
  const items = itemsOf(request);
  const field = keyField(request, scope.rules);
  const rules = compileRules(request.type === 'upsert' ? withoutRulesOf(field, scope.rules) : scope.rules);
  const shaped = items.map((item) => planRecord(request.type, item, rules, field));
  const issues = shaped.flatMap(({ record, collisions }, index) => {
    const twice = 'stands twice in the record: under its own and under its mapped name';
    const place = at(request, index);
    const found = collisions.map((name) => issue(`${place}.${name}`, twice));
    if (request.type === 'upsert' && record.key === undefined)
      found.push(issue(`${place}.${request.upsertBy}`, keyMissing));
    const strays = strayFields(request.type, record, scope.provider);
    found.push(...strays.map(([name, detail]) => issue(`${place}.${name}`, detail)));
    if (request.type === 'update' && isBare(items[index], record)) found.push(issue(place, nothingToWrite));
    return found;
  });
  if (issues.length > 0) return { refusal: refuse(issues) };
  const records = shaped.map(({ record }) => record);
  const impossible = refuseConditional(records, scope) ?? refuseRepeated(request, records, scope);
  if (impossible) return { refusal: impossible };
  return {
    plan: {
      kind: request.type,
      mode: modeOf(request),
      form: request.batch ? 'batch' : 'single',
      objectName: scope.objectName,
      records,
      ...(request.type === 'upsert' ? { upsertBy: field } : {}),
      allOrNone: request.batchPolicy?.allOrNone ?? false,
      partialOnly: scope.abilities.partialOnly.includes(request.type),
      headers: request.headers ?? [],
      ...unsentOf(shaped),
      ...(request.onUnknown === undefined ? {} : { onUnknown: request.onUnknown }),
      deadlineSeconds: deadlineOf(request),
      ...(request.autoBatchPolicy
        ? { autoBatch: { maxDelaySeconds: request.autoBatchPolicy.maxDelayMinutes * 60 } }
        : {}),
    },
  };
}

const nothingToWrite = 'holds nothing to write: send a field beside `id`';

/** Whether the caller sent the id alone, and no default of the config came to it. */
function isBare(item: Item | undefined, { fields }: PlannedRecord): boolean {
  return Object.keys(item?.record ?? {}).length === 1 && Object.keys(fields).length === 0;
}

/** A record that was planned before, and its place in its operation. */
interface PlannedBefore {
  slot: number;
  record: PlannedRecord;
}

/**
 * Records that were planned before, under the config and manifest of now: what is written never any more is left away, and
 * what is written only if it is empty is so now. Names and defaults stay as they were planned. Pure.
 */
export function planAgain(
  kind: WriteKind,
  before: readonly PlannedBefore[],
  scope: WriteScope,
  upsertBy?: string,
): { records: PlannedRecord[] } | { refusal: Problem } {
  const { abilities, provider } = scope;
  const isAble = abilities.write.includes(kind);
  const refusal = isAble
    ? refuseDeletion(kind, scope)
    : refuse([issue('type', `${kind} is not supported for the provider ${provider}`)], 'ability-unsupported');
  if (refusal) return { refusal };
  if (kind === 'delete') return { records: before.map(({ record }) => record) };
  const rules = kind === 'upsert' ? withoutRulesOf(upsertBy ?? '', scope.rules) : scope.rules;
  const again = before.map(({ slot, record }) => ({ slot, record: recordAgain(kind, record, rules) }));
  const strays = refuseStrays(kind, again, provider);
  return strays ? { refusal: strays } : { records: again.map(({ record }) => record) };
}

/** A former release may have accepted what is refused by now. */
function refuseStrays(
  kind: WriteKind,
  records: readonly PlannedBefore[],
  provider: string,
): Problem | undefined {
  const issues = records.flatMap(({ slot, record }) =>
    strayFields(kind, record, provider).map(([name, detail]) => issue(`records[${slot}].${name}`, detail)),
  );
  if (issues.length === 0) return undefined;
  const remedy = 'What was planned stays as it is: send what is to be done in a new write.';
  return problem('invalid-request', { ...refuse(issues).details, remedy });
}

function recordAgain(
  kind: 'create' | 'update' | 'upsert',
  { ifEmpty: _before, onUpdate, ...record }: PlannedRecord,
  rules: FieldRules,
): PlannedRecord {
  const again = (as: 'create' | 'update', of: PlannedRecord['fields']) => {
    const { fields, ifEmpty } = applyPolicies(as, of, rules);
    return { fields, ...(ifEmpty.length > 0 ? { ifEmpty } : {}) };
  };
  if (kind !== 'upsert') return { ...record, ...again(kind, record.fields) };
  const { fields } = applyPolicies('create', record.fields, rules);
  const update = applyPolicies('update', onUpdate?.fields ?? record.fields, rules);
  return { ...record, ...asUpsert(fields, update) };
}

interface Item {
  record: Record<string, unknown>;
  associations?: Association[];
  reference?: string;
}

function itemsOf(request: WriteRequest): Item[] {
  if (request.batch) return request.batch;
  return [
    { record: request.record ?? {}, ...(request.associations ? { associations: request.associations } : {}) },
  ];
}

/** Where a record stands in the request, for issues. */
function at(request: WriteRequest, index: number): string {
  return request.batch ? `batch[${index}].record` : 'record';
}

function planRecord(
  kind: WriteKind,
  item: Item,
  rules: CompiledRules,
  upsertBy: string,
): { record: PlannedRecord } & Pick<ShapedFields, 'collisions'> & Unsent {
  const extras: Pick<PlannedRecord, 'associations' | 'reference'> = {};
  if (item.associations && item.associations.length > 0) extras.associations = item.associations;
  if (item.reference !== undefined) extras.reference = item.reference;
  if (kind === 'delete')
    return {
      record: { id: idOf(item.record), fields: {}, ...extras },
      collisions: [],
      unmapped: [],
      dropped: [],
    };
  if (kind === 'upsert') {
    const { shaped, ...found } = shapeUpsert(item.record, upsertBy, rules);
    return { record: { ...shaped, ...extras }, ...found };
  }
  const isUpdate = kind === 'update';
  const { fields, ifEmpty, collisions, unmapped, dropped } = shapeFields(
    kind,
    isUpdate ? withoutId(item.record) : item.record,
    rules,
  );
  const record: PlannedRecord = isUpdate ? { id: idOf(item.record), fields } : { fields };
  if (ifEmpty.length > 0) record.ifEmpty = ifEmpty;
  return { record: Object.assign(record, extras), collisions, unmapped, dropped };
}

function issue(name: string, detail: string): Issue {
  return { in: 'body', name, detail };
}

/** Options that exclude one another, and what each type of write needs (§4.2.1, §4.2.2, §4.2.5). */
function refuseShape(request: WriteRequest): Problem | undefined {
  const issues: Issue[] = [];
  const { type, mode, record, batch } = request;
  if (record && batch) issues.push(issue('batch', 'excludes `record`: send one of the two'));
  if (!record && !batch) issues.push(issue('record', 'is required, unless `batch` is sent'));
  if (type === 'delete' && batch)
    issues.push(issue('batch', 'a delete takes a single record; send `record`'));
  if (batch && request.associations) {
    issues.push(issue('associations', 'belongs into the items of a batch: `batch[].associations`'));
  }
  if (!batch && request.batchPolicy) issues.push(issue('batchPolicy', 'applies to a batch only'));
  if (request.retryPolicy && type === 'delete')
    issues.push(issue('retryPolicy', 'does not apply to a delete, which is always synchronous'));
  else if (request.retryPolicy && mode !== 'asynchronous')
    issues.push(issue('retryPolicy', 'applies to asynchronous writes only; send `mode: "asynchronous"`'));
  if (request.autoBatchPolicy) issues.push(...autoBatchIssues(request));
  issues.push(...upsertByIssues(request));
  issues.push(...itemsOf(request).flatMap((item, index) => itemIssues(request, item, index)));
  return issues.length > 0 ? refuse(issues) : undefined;
}

/** Single, asynchronous, no delete (§4.2.6). */
function autoBatchIssues({ type, mode, batch }: WriteRequest): Issue[] {
  if (type === 'delete') return [issue('autoBatchPolicy', 'does not apply to a delete')];
  if (batch) return [issue('autoBatchPolicy', 'gathers single records; send `record`, not `batch`')];
  if (mode === 'asynchronous') return [];
  return [issue('autoBatchPolicy', 'applies to asynchronous writes only; send `mode: "asynchronous"`')];
}

function itemIssues(request: WriteRequest, item: Item, index: number): Issue[] {
  const { type } = request;
  const place = at(request, index);
  const issues: Issue[] = [];
  if (!request.record && !request.batch) return issues;
  const fault = isMade(type) ? undefined : faultOfId(type, item.record);
  if (fault !== undefined) issues.push(issue(`${place}.id`, fault));
  if (type === 'delete') {
    for (const name of Object.keys(item.record).filter((key) => key !== 'id')) {
      issues.push(issue(`${place}.${name}`, 'a delete takes the id only'));
    }
  }
  if (type !== 'create' && item.associations) {
    const where = request.batch ? `batch[${index}].associations` : 'associations';
    issues.push(issue(where, 'are made by a `create` only; leave them away here'));
  }
  return issues;
}

/** Two changes of one record cannot stand or fall together: they are successive calls. */
function refuseRepeated(
  request: WriteRequest,
  records: readonly PlannedRecord[],
  { provider }: WriteScope,
): Problem | undefined {
  if (!request.batchPolicy?.allOrNone) return undefined;
  const seen = new Set<string>();
  const issues = records.flatMap(({ id, key }, index) => {
    const own = id ?? key;
    const folded = id === undefined ? foldedKey(key ?? '') : canonicalIdOf(provider, id);
    if (own === undefined || seen.size < seen.add(folded).size) return [];
    const name = `batch[${index}].record.${id === undefined ? request.upsertBy : 'id'}`;
    return [issue(name, `stands twice in the batch, which allOrNone does not allow: ${own}`)];
  });
  return issues.length > 0 ? refuse(issues, 'record-repeated') : undefined;
}

/** Whether the record stands there is looked up first where that decides what is sent. */
function refuseConditional(
  records: readonly PlannedRecord[],
  { abilities, provider }: WriteScope,
): Problem | undefined {
  if (abilities.lookUp || !records.some(({ onUpdate }) => onUpdate)) return undefined;
  const what = 'an upsert of fields whose settings differ for creating and updating';
  return refuse(
    [issue('type', `${what} is not supported for the provider ${provider}`)],
    'ability-unsupported',
  );
}

/** The support table of §4.2.3, from what the connector has. */
function refuseAbility(request: WriteRequest, scope: WriteScope): Problem | undefined {
  const { abilities, provider } = scope;
  const missing: Issue[] = [];
  const lacks = (name: string, what: string): void => {
    missing.push(issue(name, `${what} is not supported for the provider ${provider}`));
  };
  if (!abilities.write.includes(request.type)) lacks('type', request.type);
  if (request.batch && !abilities.batchWrite) lacks('batch', 'batch write');
  if (!abilities.associations) {
    if (request.associations) lacks('associations', 'associations');
    (request.batch ?? []).forEach((item, index) => {
      if (item.associations) lacks(`batch[${index}].associations`, 'associations');
    });
  }
  if (request.headers && request.headers.length > 0 && !abilities.forwardHeaders)
    lacks('headers', 'forwarding headers');
  const usesIfEmpty =
    request.type === 'update' &&
    Object.values(scope.rules.settings).some((rule) => rule.writeOnUpdate === 'ifEmpty');
  if (usesIfEmpty && !abilities.ifEmpty)
    lacks('type', 'an update with `writeOnUpdate: ifEmpty` in the config');
  if (missing.length > 0) return refuse(missing, 'ability-unsupported');
  if (request.batchPolicy?.allOrNone && (request.batch?.length ?? 0) > abilities.batchLimit)
    return refuse(
      [issue('batch', `allOrNone takes one call, of ${abilities.batchLimit} records for ${provider}`)],
      'ability-unsupported',
    );
  return refuseDeletion(request.type, scope);
}

/** Also asked when what waited is sent: the config may forbid it by now. */
export function refuseDeletion(
  kind: WriteKind,
  { deletionEnabled, objectName }: WriteScope,
): Problem | undefined {
  if (kind !== 'delete' || deletionEnabled) return undefined;
  return problem('delete-not-enabled', {
    detail: `Deletion of ${objectName} is not enabled in the installation's config.`,
  });
}

function refuseHeaders(request: WriteRequest): Problem | undefined {
  const issues = (request.headers ?? []).flatMap(({ key, value }, index) => {
    if (!isForwardable(key))
      return [issue(`headers[${index}].key`, `${JSON.stringify(key)} may not be forwarded`)];
    return isHeaderValue(value)
      ? []
      : [issue(`headers[${index}].value`, 'holds a character that a header cannot carry')];
  });
  return issues.length > 0 ? refuse(issues, 'header-not-forwardable') : undefined;
}

function refuseSize(request: WriteRequest, { limits }: WriteScope): Problem | undefined {
  const deep: Issue[] = [];
  const large: Issue[] = [];
  itemsOf(request).forEach(({ record }, index) => {
    const place = at(request, index);
    if (jsonDepth(record, limits.nesting) > limits.nesting) {
      deep.push(issue(place, `is nested deeper than ${limits.nesting} levels`));
    } else if (Buffer.byteLength(JSON.stringify(record)) > limits.recordBytes) {
      large.push(issue(place, `is larger than ${limits.recordBytes} bytes`));
    }
  });
  if (deep.length > 0) return refuse(deep);
  if (large.length > 0) return refuse(large, 'record-too-large');
  return undefined;
}
