import { empty, json, type Reply } from '../../kit/index.ts';
import { objectBody, writeContext, type ApiContext } from '../api/context.ts';
import { apiError, writeError, type WriteError } from '../errors.ts';
import type { Field } from '../schema/fields.ts';
import { findField, findObject, type Schema, type SObject } from '../schema/object-types.ts';
import {
  createRecord,
  deleteRecord,
  updateRecord,
  upsertMatches,
  upsertRecord,
  type WriteContext,
  type WriteResult,
} from '../store/write.ts';
import { asText } from '../text.ts';
import { delimiters, formatCsv, parseCsv } from './csv.ts';
import { abort, invalidJob, jobJson, jobParam, lineEndOf, newJob, wantedState } from './jobs.ts';
import type { BulkJob } from './job.ts';

/** POST /jobs/ingest */
export function createIngestJob(context: ApiContext): Reply {
  const body = objectBody(context);
  const object = findObject(context.org.schema, asText(body['object'] ?? ''));
  if (!object) throw invalidJob(`Unable to find object: ${asText(body['object'] ?? '')}`);
  let key: Field | undefined;
  if (body['operation'] === 'upsert') {
    key = findField(object, asText(body['externalIdFieldName'] ?? ''));
    if (!key || !(key.externalId || key.idLookup)) {
      throw invalidJob('External ID was blank or is not an external ID of the object');
    }
  }
  const job = newJob(context, 'ingest', body, object.name);
  job.externalIdFieldName = key?.name ?? null;
  return json(200, jobJson(job));
}

/** PUT /jobs/ingest/{id}/batches: the whole CSV at once. */
export function uploadBatch(context: ApiContext): Reply {
  const job = jobParam(context, 'ingest');
  const type = context.call.headers['content-type'] ?? '';
  if (!/^text\/csv\b/i.test(type)) {
    throw apiError(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      `Content-Type header specified in HTTP request is not supported: ${type}`,
    );
  }
  if (job.state !== 'Open')
    throw apiError(400, 'INVALIDJOBSTATE', `Upload is not possible while the job is ${job.state}`);
  if (job.upload !== null) throw apiError(400, 'INVALIDJOBSTATE', 'Data was already uploaded to this job');
  job.upload = context.call.text;
  return empty(201);
}

/** PATCH /jobs/ingest/{id}: `UploadComplete` does the work, `Aborted` gives up. */
export function patchIngestJob(context: ApiContext): Reply {
  const job = jobParam(context, 'ingest');
  const state = wantedState(context);
  if (state === 'Aborted') abort(job);
  else if (state !== 'UploadComplete') throw apiError(400, 'INVALIDJOBSTATE', `Unknown state: ${state}`);
  else if (job.state !== 'Open') throw apiError(400, 'INVALIDJOBSTATE', `The job is already ${job.state}`);
  else {
    job.state = 'UploadComplete';
    ingest(context, job);
  }
  return json(200, jobJson(job));
}

function ingest(context: ApiContext, job: BulkJob): void {
  const object = findObject(context.org.schema, job.object);
  const [header = [], ...rows] = parseCsv(job.upload ?? '', delimiters[job.columnDelimiter] ?? ',');
  job.columns = header;
  if (job.errorMessage !== null) {
    job.unprocessed = rows;
    return;
  }
  const unknown = object ? header.find((name) => !knowsColumn(context.org.schema, object, name)) : job.object;
  if (!object || unknown !== undefined) {
    job.errorMessage = `InvalidBatch : Field name not found : ${unknown}`;
    job.unprocessed = rows;
    return;
  }
  const write = writeContext(context);
  for (const row of rows) {
    const record = toRecord(header, row);
    const result = writeRow(write, job, object, record);
    if (result.ok) job.successful.push([result.id, String(result.created), ...row]);
    else job.failed.push([asText(record['Id'] ?? ''), result.errors.map(errorText).join(''), ...row]);
  }
}

/** A column, or `Account.External_Id__c` for a parent found by its external id. */
function knowsColumn(schema: Schema, object: SObject, name: string): boolean {
  const [first = '', second] = name.split('.');
  if (second === undefined) return findField(object, first) !== undefined;
  const link = object.byRelationship.get(first.toLowerCase());
  const parent = link ? findObject(schema, link.referenceTo[0] ?? '') : undefined;
  return parent !== undefined && findField(parent, second) !== undefined;
}

/** An empty cell leaves the field alone, `#N/A` clears it. */
function toRecord(header: string[], row: string[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  header.forEach((name, i) => {
    const cell = row[i] ?? '';
    if (cell === '') return;
    const value = cell === '#N/A' ? null : cell;
    const [first = '', second] = name.split('.');
    if (second !== undefined) record[first] = value === null ? null : { [second]: value };
    else record[first.toLowerCase() === 'id' ? 'Id' : first] = value;
  });
  return record;
}

function writeRow(
  write: WriteContext,
  job: BulkJob,
  object: SObject,
  record: Record<string, unknown>,
): WriteResult {
  const id = asText(record['Id'] ?? '');
  if (job.operation === 'insert') return createRecord(write, object, record);
  if (job.operation === 'upsert') return upsertRow(write, job, object, record);
  if (id === '') return refused('MISSING_ARGUMENT', 'Id not specified');
  if (job.operation === 'update') return updateRecord(write, object, id, record, ['Id']);
  return deleteRecord(write, object, id, job.operation === 'hardDelete');
}

function upsertRow(
  write: WriteContext,
  job: BulkJob,
  object: SObject,
  record: Record<string, unknown>,
): WriteResult {
  const f = findField(object, job.externalIdFieldName ?? '');
  const key = Object.keys(record).find((name) => name.toLowerCase() === f?.name.toLowerCase());
  const value = asText((key ? record[key] : undefined) ?? '');
  if (!f || value === '') return refused('MISSING_ARGUMENT', `${job.externalIdFieldName} not specified`);
  const ids = upsertMatches(write.store, object, f, value);
  if (ids.length < 2) return upsertRecord(write, object, f, value, record);
  const message = `${f.name}: more than one record found for external id field: [${ids.join(', ')}]`;
  return refused('DUPLICATE_EXTERNAL_ID', message);
}

function refused(code: string, message: string): WriteResult {
  return { ok: false, errors: [writeError(code, message)] };
}

function errorText(error: WriteError): string {
  return `${error.statusCode}:${error.message}:${error.fields.join(', ')} --`;
}

type Outcome = 'successful' | 'failed' | 'unprocessed';

const leading: Record<Outcome, string[]> = {
  successful: ['sf__Id', 'sf__Created'],
  failed: ['sf__Id', 'sf__Error'],
  unprocessed: [],
};

/** GET /successfulResults, /failedResults and /unprocessedrecords */
export function ingestResults(outcome: Outcome): (context: ApiContext) => Reply {
  return (context) => {
    const job = jobParam(context, 'ingest');
    const delimiter = delimiters[job.columnDelimiter] ?? ',';
    const rows = [[...leading[outcome], ...job.columns], ...job[outcome]];
    return {
      status: 200,
      body: formatCsv(rows, delimiter, lineEndOf(job)),
      headers: { 'content-type': 'text/csv' },
    };
  };
}
