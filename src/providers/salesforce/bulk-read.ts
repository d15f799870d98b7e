/** Reading by a query job of Bulk API 2.0: made, waited for, its results read page by page, and removed. */
import { headerOf, type HttpAnswer } from '../../kit/http/client.ts';
import { parseJson } from '../../kit/json.ts';
import { bodyOf, isObject, isSuccess, textOf, type JsonObject } from '../answer.ts';
import type { ProviderRequest, ReadJudgement, ReadQuery, ReadRecord } from '../connector.ts';
import type { Failure } from '../failure.ts';
import { pageSize } from '../read.ts';
import type { FieldMetadata } from '../schema.ts';
import { parseCsv } from './csv.ts';
import { failureOf, judgeQuery } from './failure.ts';
import { jobPath, jobsPath, recordPath } from './paths.ts';
import { columnsOf, sourceOf } from './soql.ts';

const largestPage = 5_000;
const [firstWaitMs, longestWaitMs] = [1_000, 30_000];
const jobId = /^[a-z0-9]{15}(?:[a-z0-9]{3})?$/i;

/** Where a read by a job stands. As text it begins with a brace, which no record id does. */
type Step =
  | { step: 'create' }
  | { step: 'wait'; job: string; polls: number }
  | { step: 'results'; job: string; locator?: string }
  | { step: 'remove'; job: string };

export const startOfBulk = cursorOf({ step: 'create' });

function cursorOf(step: Step): string {
  return JSON.stringify(step);
}

export function isBulk(cursor: string): boolean {
  return cursor.startsWith('{');
}

export function bulkBuild(query: ReadQuery, cursor: string): ProviderRequest {
  const at = JSON.parse(cursor) as Step;
  if (at.step === 'create') return { method: 'POST', path: jobsPath, body: jobOf(query) };
  if (at.step === 'results')
    return { method: 'GET', path: resultsPath(query, at), headers: { accept: 'text/csv' } };
  return { method: at.step === 'wait' ? 'GET' : 'DELETE', path: jobPath(at.job) };
}

function jobOf(query: ReadQuery): JsonObject {
  return {
    operation: query.deleted ? 'queryAll' : 'query',
    query: `SELECT ${columnsOf(query).join(', ')} ${sourceOf(query)}`,
    contentType: 'CSV',
    columnDelimiter: 'COMMA',
    lineEnding: 'LF',
  };
}

function resultsPath(query: ReadQuery, { job, locator }: { job: string; locator?: string }): string {
  const size = pageSize(largestPage, columnsOf(query).length, query.limit);
  const parameters = new URLSearchParams({ maxRecords: String(size) });
  if (locator !== undefined) parameters.set('locator', locator);
  return jobPath(job, `/results?${parameters.toString()}`);
}

/** `recordsOf` makes records of rows in the form of a REST answer; undefined where one of them is none. */
export function bulkJudge(
  query: ReadQuery,
  cursor: string,
  answer: HttpAnswer,
  recordsOf: (query: ReadQuery, raws: readonly JsonObject[]) => ReadRecord[] | undefined,
): ReadJudgement {
  const at = JSON.parse(cursor) as Step;
  // Results stay for seven days, whether the job is removed or not.
  if (at.step === 'remove') return { page: { records: [] } };
  if (!isSuccess(answer)) return failedStep(at, failureOf(answer));
  if (at.step !== 'results') return judgeJob(at, answer);
  const raws = rawsIn(query, answer);
  const records = raws && recordsOf(query, raws);
  const locator = headerOf(answer, 'sforce-locator');
  if (!records || locator === undefined || locator === '' || locator === at.locator)
    return { failure: failureOf(answer) };
  const next: Step =
    locator === 'null' ? { step: 'remove', job: at.job } : { step: 'results', job: at.job, locator };
  return { page: { records, next: cursorOf(next) } };
}

/** The job is gone, and its cursor with it. */
function failedStep({ step }: Step, failure: Failure): ReadJudgement {
  const isLost = step !== 'create' && failure.category === 'notFound';
  return isLost ? { failure, begin: true } : { failure };
}

function judgeJob(at: Step & { step: 'create' | 'wait' }, answer: HttpAnswer): ReadJudgement {
  const body = bodyOf(answer);
  const job = isObject(body) ? textOf(body['id']) : undefined;
  const state = isObject(body) ? body['state'] : undefined;
  if (!isObject(body) || job === undefined || !jobId.test(job)) return { failure: failureOf(answer) };
  if (at.step === 'wait' && job !== at.job) return { failure: failureOf(answer) };
  if (state === 'JobComplete') return { page: { records: [], next: cursorOf({ step: 'results', job }) } };
  if (state === 'Failed' || state === 'Aborted') return endedBadly(state, textOf(body['errorMessage']));
  if (state !== 'UploadComplete' && state !== 'InProgress') return { failure: failureOf(answer) };
  const polls = at.step === 'wait' ? at.polls + 1 : 0;
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(polls, 10));
  return { page: { records: [], next: cursorOf({ step: 'wait', job, polls }), waitMs } };
}

/** Another job may end well, unless the query is at fault. */
function endedBadly(state: string, why = ''): ReadJudgement {
  const message = `the query job of Salesforce ended as ${state}${why === '' ? '' : `: ${why}`}`;
  const final = judgeQuery(why);
  if (final) return { failure: { ...final, message } };
  return { failure: { category: 'providerDown', retryable: true, message }, begin: true };
}

/** The rows in the form of a REST answer; undefined for a text that was cut off or is another's. */
function rawsIn(query: ReadQuery, answer: HttpAnswer): JsonObject[] | undefined {
  const [header, ...rows] = parseCsv(answer.body) ?? [];
  const announced = headerOf(answer, 'sforce-numberofrecords');
  if (!header?.includes('Id') || announced !== String(rows.length)) return undefined;
  if (rows.some((row) => row.length !== header.length)) return undefined;
  const types = header.map((name) => query.object.fields[name]?.valueType);
  const ids = header.indexOf('Id');
  const isStrange = rows.some((row) => !jobId.test(row[ids] ?? ''));
  if (isStrange) return undefined;
  return rows.map((row) => {
    const url = recordPath(query.object.name, row[ids] ?? '');
    const values = header.map((name, at) => [name, valueOf(types[at], row[at] ?? '')] as const);
    return Object.fromEntries<unknown>([['attributes', { type: query.object.name, url }], ...values]);
  });
}

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** A cell as REST writes the value; an empty one is null. */
function valueOf(type: FieldMetadata['valueType'] | undefined, cell: string): unknown {
  if (cell === '') return null;
  if (type === 'boolean') return cell === 'true' ? true : cell === 'false' ? false : cell;
  if ((type === 'int' || type === 'float') && numberForm.test(cell)) return parseJson(cell);
  return type === 'datetime' ? cell.replace(/Z$/, '+0000') : cell;
}
