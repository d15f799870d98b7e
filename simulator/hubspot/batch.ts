import { empty, isObject, json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { invalid, isRefusal, missingFields, refuse } from './errors.ts';
import type { Refusal } from './errors.ts';
import { tableOf } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import { renderCreated, renderRead, renderUpdated } from './render.ts';
import type { ObjectType, Row } from './types.ts';
import { applyCreate, applyUpdate, archiveRow, findRow, planCreate, planUpdate, textOf } from './write.ts';
import type { CreatePlan } from './write.ts';

type Answer = Reply | Refusal;
export type Input = JsonObject & { id?: unknown };

const MAX_INPUTS = 100;

/** The `inputs` of a batch body: an array of at most `max` objects. */
export function inputsOf(body: JsonObject, max = MAX_INPUTS): Input[] | Refusal {
  const inputs = body['inputs'];
  if (!Array.isArray(inputs)) return missingFields(['inputs']);
  if (inputs.length > max)
    return invalid(`Too many inputs: ${inputs.length}. The maximum number in one batch is ${max}`);
  const objects = (inputs as unknown[]).filter(isObject);
  return objects.length === inputs.length ? objects : invalid('each input must be an object');
}

/** All or nothing, unless every input carries its own objectWriteTraceId. */
export function batchCreate(hub: Hub, type: ObjectType, input: HubCall): Answer {
  const inputs = inputsOf(input.body);
  if (isRefusal(inputs)) return inputs;
  const traces = tracesOf(inputs);
  if (isRefusal(traces)) return traces;
  return traces.partial ? createEach(hub, type, inputs, input) : createAll(hub, type, inputs, input);
}

function createAll(hub: Hub, type: ObjectType, inputs: Input[], { access }: HubCall): Answer {
  const claimed = new Set<string>();
  const plans: { plan: CreatePlan; one: Input }[] = [];
  for (const one of inputs) {
    const plan = planCreate(hub, type, one, claimed);
    if (isRefusal(plan)) return plan;
    plans.push({ plan, one });
  }
  const { account } = access.grant;
  const results = plans.map(({ plan, one }) =>
    traced(hub, one, renderCreated(type, applyCreate(hub, plan), account)),
  );
  return complete(hub, 201, results, []);
}

function createEach(hub: Hub, type: ObjectType, inputs: Input[], { access }: HubCall): Answer {
  const results: JsonObject[] = [];
  const errors: JsonObject[] = [];
  for (const one of inputs) {
    const plan = planCreate(hub, type, one);
    if (isRefusal(plan)) errors.push(itemError(plan, traceContext(one)));
    else results.push(traced(hub, one, renderCreated(type, applyCreate(hub, plan), access.grant.account)));
  }
  return complete(hub, 201, results, errors);
}

/** Always partial. One error entry names all ids that were not found. */
export function batchUpdate(hub: Hub, type: ObjectType, { body, access }: HubCall): Answer {
  const inputs = inputsOf(body);
  if (isRefusal(inputs)) return inputs;
  const refused = duplicateIds(inputs);
  if (refused) return refused;
  const found = findRows(hub, type, inputs);
  if (isRefusal(found)) return found;
  const results: JsonObject[] = [];
  const errors: JsonObject[] = [];
  const missing: string[] = [];
  for (const { one, id, row } of found) {
    if (!row) missing.push(id);
    else {
      const plan = planUpdate(hub, type, row, one['properties'] ?? {});
      if (isRefusal(plan)) errors.push(itemError(plan, { ...traceContext(one), ids: [id] }));
      else {
        applyUpdate(hub, plan);
        results.push(
          traced(hub, one, renderUpdated(type, row, Object.keys(plan.values), access.grant.account)),
        );
      }
    }
  }
  return complete(hub, 200, results, [...errors, ...missingError(type, missing)]);
}

type Found = { one: Input; id: string; row: Row | undefined };

/** The rows of all inputs before any is written: one property that is not unique refuses the batch. */
function findRows(hub: Hub, type: ObjectType, inputs: Input[]): Found[] | Refusal {
  const found: Found[] = [];
  for (const one of inputs) {
    const id = textOf(one.id);
    if (!id) return missingFields(['id']);
    const row = findRow(hub, type, id, textOf(one['idProperty']));
    if (row && isRefusal(row)) return row;
    found.push({ one, id, row });
  }
  return found;
}

type UpsertPlan = { one: Input; apply: () => { row: Row; created: boolean; changed: string[] } };

/** Create or update by a unique property; partial only with trace ids and never by e-mail. */
export function batchUpsert(hub: Hub, type: ObjectType, { body, access }: HubCall): Answer {
  const inputs = inputsOf(body);
  if (isRefusal(inputs)) return inputs;
  const traces = tracesOf(inputs);
  if (isRefusal(traces)) return traces;
  const refused = duplicateIds(inputs);
  if (refused) return refused;
  const partial = traces.partial && inputs.every((one) => one['idProperty'] !== 'email');
  const claimed = new Set<string>();
  const results: JsonObject[] = [];
  const errors: JsonObject[] = [];
  const plans: UpsertPlan[] = [];
  const perform = ({ one, apply }: UpsertPlan): void => {
    const { row, created, changed } = apply();
    const shown = created
      ? renderCreated(type, row, access.grant.account)
      : renderUpdated(type, row, changed, access.grant.account);
    results.push(traced(hub, one, { ...shown, new: created }));
  };
  for (const one of inputs) {
    const plan = planUpsert(hub, type, one, partial ? new Set() : claimed);
    if (!isRefusal(plan)) {
      if (partial) perform(plan);
      else plans.push(plan);
    } else if (partial) errors.push(itemError(plan, { ...traceContext(one), ids: [textOf(one.id) ?? ''] }));
    else return plan;
  }
  for (const plan of plans) perform(plan);
  return complete(hub, 200, results, errors);
}

function planUpsert(hub: Hub, type: ObjectType, one: Input, claimed: Set<string>): UpsertPlan | Refusal {
  const id = textOf(one.id);
  const idProperty = textOf(one['idProperty']);
  if (!id || !idProperty) return missingFields(['id', 'idProperty']);
  const row = findRow(hub, type, id, idProperty);
  if (row && isRefusal(row)) return row;
  const properties = isObject(one['properties']) ? one['properties'] : {};
  if (!row) {
    const plan = planCreate(hub, type, { ...one, properties: { [idProperty]: id, ...properties } }, claimed);
    if (isRefusal(plan)) return plan;
    return { one, apply: () => ({ row: applyCreate(hub, plan), created: true, changed: [] }) };
  }
  const plan = planUpdate(hub, type, row, properties);
  if (isRefusal(plan)) return plan;
  return {
    one,
    apply: () => {
      applyUpdate(hub, plan);
      return { row, created: false, changed: Object.keys(plan.values) };
    },
  };
}

export function batchRead(hub: Hub, type: ObjectType, { call, body, access }: HubCall): Answer {
  const history = strings(body['propertiesWithHistory']);
  const inputs = inputsOf(body, history.length > 0 ? 50 : MAX_INPUTS);
  if (isRefusal(inputs)) return inputs;
  const archived = call.query.get('archived') === 'true';
  const idProperty = textOf(body['idProperty']);
  const wanted = { properties: strings(body['properties']), history };
  const results: JsonObject[] = [];
  const missing: string[] = [];
  for (const id of new Set(inputs.map((one) => textOf(one.id) ?? ''))) {
    const row = archived ? tableOf(hub, type).get(id) : findRow(hub, type, id, idProperty);
    if (row && isRefusal(row)) return row;
    if (!row || row.archived !== archived) missing.push(id);
    else results.push(renderRead(hub, type, row, access.grant.account, wanted));
  }
  return complete(hub, 200, results, missingError(type, missing));
}

/** Ignores ids that it does not know. */
export function batchArchive(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const inputs = inputsOf(body);
  if (isRefusal(inputs)) return inputs;
  for (const one of inputs) {
    const row = tableOf(hub, type).get(textOf(one.id) ?? '');
    if (row) archiveRow(hub, type, row);
  }
  return empty(204);
}

/** The batch answer: 207 as soon as there is an error, results in random order. */
export function complete(hub: Hub, status: 200 | 201, results: JsonObject[], errors: JsonObject[]): Reply {
  const at = hub.ground.clock.iso();
  const shown = hub.settings.shuffle ? hub.ground.random.shuffle(results) : results;
  const body: JsonObject = { status: 'COMPLETE', results: shown };
  if (errors.length > 0) Object.assign(body, { numErrors: errors.length, errors });
  return json(errors.length > 0 ? 207 : status, { ...body, startedAt: at, completedAt: at, requestedAt: at });
}

function tracesOf(inputs: Input[]): { partial: boolean } | Refusal {
  const traces = inputs.map((one) => textOf(one['objectWriteTraceId'])).filter((one) => one !== undefined);
  if (new Set(traces).size !== traces.length) return invalid('objectWriteTraceId must be unique in a batch');
  return { partial: inputs.length > 0 && traces.length === inputs.length };
}

function duplicateIds(inputs: Input[]): Refusal | undefined {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const one of inputs) {
    const id = (textOf(one.id) ?? '').toLowerCase();
    const key = `${textOf(one['idProperty']) ?? ''}:${id}`;
    if (seen.has(key)) twice.add(id);
    seen.add(key);
  }
  return twice.size === 0
    ? undefined
    : invalid(`Duplicate IDs found in batch input: [${[...twice].join(', ')}]`);
}

function missingError(type: ObjectType, ids: string[]): JsonObject[] {
  if (ids.length === 0) return [];
  const message = `Could not get some ${type.singular.toUpperCase()} objects, they may be deleted or not exist. Check that ids are valid.`;
  return [{ ...refuse(207, message, 'OBJECT_NOT_FOUND').body, context: { ids } }];
}

function itemError(refusal: Refusal, context: JsonObject): JsonObject {
  const existing = /Existing ID: (\d+)/.exec(String(refusal.body['message']))?.[1];
  return { ...refusal.body, context: { ...context, ...(existing ? { existingId: [existing] } : {}) } };
}

function traceContext(one: Input): JsonObject {
  const trace = textOf(one['objectWriteTraceId']);
  return trace === undefined ? {} : { objectWriteTraceId: [trace] };
}

function traced(hub: Hub, one: Input, result: JsonObject): JsonObject {
  const trace = textOf(one['objectWriteTraceId']);
  return trace !== undefined && hub.settings.echoTraceId ? { ...result, objectWriteTraceId: trace } : result;
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
