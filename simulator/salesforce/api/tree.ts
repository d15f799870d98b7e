import { isObject, json, type JsonObject, type Reply } from '../../kit/index.ts';
import { apiError, itemErrors, writeError, type WriteError } from '../errors.ts';
import { childRelationships, type SObject } from '../schema/object-types.ts';
import { rollbackTo } from '../store/store.ts';
import { createRecord, type WriteContext } from '../store/write.ts';
import { asText } from '../text.ts';
import { objectBody, objectParam, writeContext, type ApiContext } from './context.ts';

const maxRecords = 200;

type Made = { referenceId: string; id: string };
type Failed = { referenceId: string; errors: WriteError[] };

/** POST /composite/tree/{T}: parents with their children in one go, all or nothing. */
export function createTree(context: ApiContext): Reply {
  const object = objectParam(context);
  const records = recordsOf(objectBody(context));
  const mark = { undo: context.tx.undo.length, changes: context.tx.changes.length };
  const outcome = { made: [] as Made[], failed: [] as Failed[] };
  const write = writeContext(context);
  for (const record of records) plant(context, write, object, record, {}, outcome);
  if (outcome.made.length + outcome.failed.length > maxRecords) {
    throw apiError(400, 'EXCEEDED_ID_LIMIT', `The tree has more than ${maxRecords} records`);
  }
  if (outcome.failed.length === 0) return json(201, { hasErrors: false, results: outcome.made });
  rollbackTo(context.tx, mark);
  const results = outcome.failed.map((f) => ({ referenceId: f.referenceId, errors: itemErrors(f.errors) }));
  return json(400, { hasErrors: true, results });
}

function recordsOf(holder: unknown): JsonObject[] {
  const records = isObject(holder) ? holder['records'] : undefined;
  if (!Array.isArray(records)) throw apiError(400, 'JSON_PARSER_ERROR', 'records must be a list');
  return records.filter((record: unknown) => isObject(record));
}

function plant(
  context: ApiContext,
  write: WriteContext,
  object: SObject,
  record: JsonObject,
  link: JsonObject,
  outcome: { made: Made[]; failed: Failed[] },
): void {
  const attributes = record['attributes'];
  const referenceId = asText(isObject(attributes) ? attributes['referenceId'] : '');
  const children = childRelationships(context.org.schema, object).filter((c) => c.name && c.name in record);
  const lists = new Set(children.map((c) => c.name));
  const own = Object.fromEntries(Object.entries(record).filter(([name]) => !lists.has(name)));
  const result = referenceId
    ? createRecord(write, object, { ...own, ...link })
    : {
        ok: false as const,
        errors: [writeError('INVALID_INPUT', 'Include a reference ID for each record.')],
      };
  if (!result.ok) {
    outcome.failed.push({ referenceId, errors: result.errors });
    return;
  }
  outcome.made.push({ referenceId, id: result.id });
  for (const child of children) {
    for (const one of recordsOf(record[child.name ?? ''])) {
      plant(context, write, child.child, one, { [child.field.name]: result.id }, outcome);
    }
  }
}
