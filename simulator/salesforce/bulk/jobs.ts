import { empty, json, type JsonObject, type Reply } from '../../kit/index.ts';
import { apiError, notFound } from '../errors.ts';
import { nextThingId, type Org } from '../org.ts';
import { objectBody, param, type ApiContext } from '../api/context.ts';
import { formatDatetime } from '../store/times.ts';
import { asText } from '../text.ts';
import { delimiters } from './csv.ts';
import type { BulkJob } from './job.ts';

const allowed: Record<BulkJob['kind'], string[]> = {
  query: ['query', 'queryAll'],
  ingest: ['insert', 'update', 'upsert', 'delete', 'hardDelete'],
};

/** Reads the shared part of a new job and registers it. */
export function newJob(
  context: ApiContext,
  kind: BulkJob['kind'],
  body: JsonObject,
  object: string,
): BulkJob {
  const { org } = context;
  const operation = asText(body['operation'] ?? '');
  const columnDelimiter = asText(body['columnDelimiter'] ?? 'COMMA');
  const lineEnding = asText(body['lineEnding'] ?? 'LF');
  if (!allowed[kind].includes(operation)) throw invalidJob(`Unable to find operation: ${operation}`);
  if (!delimiters[columnDelimiter]) throw invalidJob(`Unknown columnDelimiter: ${columnDelimiter}`);
  if (lineEnding !== 'LF' && lineEnding !== 'CRLF') throw invalidJob(`Unknown lineEnding: ${lineEnding}`);
  if ((body['contentType'] ?? 'CSV') !== 'CSV') throw invalidJob('Only the content type CSV is supported');
  const job: BulkJob = {
    id: nextThingId(org, '750'),
    kind,
    operation,
    object,
    createdById: context.userId,
    createdAt: org.ground.clock.now(),
    version: context.version,
    state: kind === 'query' ? 'UploadComplete' : 'Open',
    pollsLeft: org.settings.bulkPolls,
    columnDelimiter,
    lineEnding,
    externalIdFieldName: null,
    errorMessage: failureOf(org, kind, object),
    upload: null,
    columns: [],
    rows: [],
    successful: [],
    failed: [],
    unprocessed: [],
  };
  org.jobs.set(job.id, job);
  return job;
}

/** Why this job is going to fail, when a test wants it to. */
function failureOf(org: Org, kind: BulkJob['kind'], object: string): string | null {
  const rule = org.settings.bulkFailures.find(
    (one) =>
      one.times > 0 &&
      (one.kind === undefined || one.kind === kind) &&
      (one.object === undefined || one.object.toLowerCase() === object.toLowerCase()),
  );
  if (!rule) return null;
  rule.times -= 1;
  return rule.message ?? 'InternalServerError : the job could not be processed';
}

export function invalidJob(message: string): Error {
  return apiError(400, 'INVALIDJOB', message);
}

/** The job a path names; 404 when there is none of this kind. */
export function jobParam(context: ApiContext, kind: BulkJob['kind']): BulkJob {
  const { org } = context;
  const job = org.jobs.get(param(context, 'id'));
  const expired = job && job.createdAt + org.settings.bulkLifeMs <= org.ground.clock.now();
  if (expired) org.jobs.delete(job.id);
  if (expired || job?.kind !== kind) throw notFound();
  return job;
}

export function lineEndOf(job: BulkJob): string {
  return job.lineEnding === 'CRLF' ? '\r\n' : '\n';
}

/** What every job answer shows. */
export function jobJson(job: BulkJob): JsonObject {
  const stamp = formatDatetime(job.createdAt);
  const common = {
    id: job.id,
    operation: job.operation,
    object: job.object,
    createdById: job.createdById,
    createdDate: stamp,
    systemModstamp: stamp,
    state: job.state,
    concurrencyMode: 'Parallel',
    contentType: 'CSV',
    apiVersion: job.version,
    lineEnding: job.lineEnding,
    columnDelimiter: job.columnDelimiter,
  };
  const done = job.state === 'JobComplete' || job.state === 'Failed';
  if (job.kind === 'query') {
    const failure = job.state === 'Failed' ? { errorMessage: job.errorMessage } : {};
    const processed = job.state === 'Failed' ? 0 : job.rows.length;
    return done
      ? { ...common, jobType: 'V2Query', numberRecordsProcessed: processed, retries: 0, ...failure }
      : common;
  }
  const counts = {
    numberRecordsProcessed: done ? job.successful.length + job.failed.length : 0,
    numberRecordsFailed: done ? job.failed.length : 0,
    retries: 0,
    totalProcessingTime: done ? 1 : 0,
  };
  return {
    ...common,
    jobType: 'V2Ingest',
    ...(job.externalIdFieldName ? { externalIdFieldName: job.externalIdFieldName } : {}),
    ...(job.state === 'Open'
      ? { contentUrl: `services/data/v${job.version}.0/jobs/ingest/${job.id}/batches` }
      : {}),
    ...(job.errorMessage && done ? { errorMessage: job.errorMessage } : {}),
    ...counts,
  };
}

/** GET of one job: each read brings it nearer to its end. */
export function readJob(kind: BulkJob['kind']): (context: ApiContext) => Reply {
  return (context) => {
    const job = jobParam(context, kind);
    if (job.state === 'UploadComplete' || job.state === 'InProgress') {
      if (job.pollsLeft > 0) job.state = 'InProgress';
      else job.state = job.errorMessage ? 'Failed' : 'JobComplete';
      job.pollsLeft -= 1;
    }
    return json(200, jobJson(job));
  };
}

/** GET /jobs/{kind}: all jobs, newest first. */
export function listJobs(kind: BulkJob['kind']): (context: ApiContext) => Reply {
  return (context) => {
    const jobs = [...context.org.jobs.values()].filter((job) => job.kind === kind);
    return json(200, {
      done: true,
      records: jobs.toReversed().map((job) => jobJson(job)),
      nextRecordsUrl: null,
    });
  };
}

/** DELETE of one job, once it has ended. */
export function deleteJob(kind: BulkJob['kind']): (context: ApiContext) => Reply {
  return (context) => {
    const job = jobParam(context, kind);
    if (job.state === 'InProgress') throw apiError(400, 'INVALIDJOBSTATE', 'The job is still in progress');
    context.org.jobs.delete(job.id);
    return empty(204);
  };
}

/** The state a PATCH asks for. */
export function wantedState(context: ApiContext): string {
  return asText(objectBody(context)['state'] ?? '');
}

/** Ends a job that has not ended yet. */
export function abort(job: BulkJob): void {
  if (job.state === 'JobComplete' || job.state === 'Failed') {
    throw apiError(400, 'INVALIDJOBSTATE', `The job is already ${job.state}`);
  }
  job.state = 'Aborted';
}
