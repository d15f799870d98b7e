import { empty, json, type Reply } from '../../kit/index.ts';
import { apiError } from '../errors.ts';
import { findObject, type SObject } from '../schema/object-types.ts';
import { describeGlobal, describeObject, summary, type RecordTypeInfo } from '../schema/describe.ts';
import { attributes } from '../soql/render.ts';
import { deletions, getRow, isDeleted, recycleBinMs, scan, type Row } from '../store/store.ts';
import { formatDatetime, parseDatetime } from '../store/times.ts';
import { objectParam, type ApiContext } from './context.ts';

const updatedWindowMs = 30 * 86_400_000;
const minute = 60_000;

/** Version 31.0 was Summer '14; three follow each year. */
const oldest = 31;
const newest = 67;
const seasons = ['Summer', 'Winter', 'Spring'];

/** GET /services/data: needs no session. */
export function versions(): Reply {
  const list = [];
  for (let i = 0; i <= newest - oldest; i += 1) {
    const version = `${oldest + i}.0`;
    const label = `${seasons[i % 3]} '${14 + Math.ceil(i / 3)}`;
    list.push({ label, url: `/services/data/v${version}`, version });
  }
  return json(200, list);
}

/** GET /services/data/vNN.0/ */
export function resources(context: ApiContext): Reply {
  const { org, base, userId } = context;
  const names = ['limits', 'sobjects', 'query', 'queryAll', 'composite', 'jobs', 'recent', 'tabs', 'theme'];
  const links = Object.fromEntries(names.map((name) => [name, `${base}/${name}`]));
  return json(200, { ...links, identity: `${org.ground.url}/id/${org.id}/${userId}` });
}

/** GET /limits */
export function limits(context: ApiContext): Reply {
  const { org } = context;
  const max = org.quota.numbers.dailyApiRequests;
  const remaining = Math.max(0, max - org.quota.used(org.ground.clock.now()));
  const bulkJobs = [...org.jobs.values()];
  const count = (kind: string): number => bulkJobs.filter((job) => job.kind === kind).length;
  return json(200, {
    DailyApiRequests: { Max: max, Remaining: remaining },
    DailyBulkApiBatches: { Max: 15_000, Remaining: 15_000 - count('ingest') },
    DailyBulkV2QueryJobs: { Max: 10_000, Remaining: 10_000 - count('query') },
    DailyBulkV2QueryFileStorageMB: { Max: 976_562, Remaining: 976_562 },
    DataStorageMB: { Max: 1024, Remaining: 1000 },
    FileStorageMB: { Max: 1024, Remaining: 1024 },
  });
}

/** GET /sobjects */
export function objects(context: ApiContext): Reply {
  return unlessModified(context, () => describeGlobal(context.org.schema, context.base));
}

/** GET /sobjects/{T}/describe; 304 when the schema is as old as the caller's copy. */
export function describe(context: ApiContext): Reply {
  const object = objectParam(context);
  return unlessModified(context, () =>
    describeObject(context.org.schema, object, context.base, recordTypesOf(context, object)),
  );
}

function recordTypesOf({ org }: ApiContext, object: SObject): RecordTypeInfo[] {
  const types = findObject(org.schema, 'RecordType');
  const rows = types ? [...scan(org.store, types, false, 0)] : [];
  return rows
    .filter((row) => row['SobjectType'] === object.name)
    .map((row) => ({
      recordTypeId: String(row['Id']),
      name: String(row['Name']),
      developerName: String(row['DeveloperName']),
      active: row['IsActive'] === true,
    }));
}

function unlessModified(context: ApiContext, body: () => Record<string, unknown>): Reply {
  const changed = Math.floor(context.org.schema.changedAt / 1000) * 1000;
  const headers = { 'last-modified': new Date(changed).toUTCString() };
  const since = Date.parse(context.call.headers['if-modified-since'] ?? '');
  return since >= changed ? empty(304, headers) : json(200, body(), headers);
}

/** GET /sobjects/{T} */
export function objectInfo(context: ApiContext): Reply {
  const object = objectParam(context);
  const recentItems = recentOf(context, object).slice(0, 25);
  return json(200, { objectDescribe: summary(object, context.base), recentItems });
}

/** GET /recent */
export function recent(context: ApiContext): Reply {
  const limit = Number(context.call.query.get('limit') ?? 200);
  return json(200, recentOf(context, null).slice(0, limit));
}

function recentOf(context: ApiContext, only: SObject | null): Record<string, unknown>[] {
  const items: Record<string, unknown>[] = [];
  for (const [id, object] of [...context.org.recent].toReversed()) {
    const row = only && object !== only ? undefined : getRow(context.org.store, object, id);
    if (!row || isDeleted(row)) continue;
    items.push({
      attributes: attributes(object, id, context.base),
      Id: id,
      Name: row['Name'] ?? row['CaseNumber'] ?? row['Subject'] ?? null,
    });
  }
  return items;
}

/** GET /tabs */
export function tabs(context: ApiContext): Reply {
  const named = ['Account', 'Contact', 'Lead', 'Opportunity', 'Case', 'Campaign'];
  return json(
    200,
    named.map((name) => ({
      colors: [],
      custom: false,
      iconUrl: `${context.org.ground.url}/img/icon/${name.toLowerCase()}.png`,
      icons: [],
      label: `${name}s`,
      miniIconUrl: `${context.org.ground.url}/img/icon/${name.toLowerCase()}16.png`,
      name: `standard-${name}`,
      sobjectName: name,
      url: `${context.org.ground.url}/${name.toLowerCase()}`,
    })),
  );
}

/** GET /theme */
export function theme(context: ApiContext): Reply {
  const themeItems = [...context.org.schema.objects.values()].map((o) => ({
    name: o.name,
    colors: [],
    icons: [],
  }));
  return json(200, { themeItems });
}

type Period = { start: number; end: number; covered: string };

/** Reads `start` and `end`, to the minute; `windowMs` says how far back they may reach. */
function period(context: ApiContext, windowMs: number): Period {
  const { query } = context.call;
  const read = (name: string): number => {
    const ms = parseDatetime((query.get(name) ?? '').replace(' ', '+'));
    if (ms === undefined)
      throw apiError(400, 'INVALID_REPLICATION_DATE', `${name} is not a datetime with a zone`);
    return Math.floor(ms / minute) * minute;
  };
  const start = read('start');
  const end = read('end');
  const now = context.org.ground.clock.now();
  if (start >= end)
    throw apiError(
      400,
      'INVALID_REPLICATION_DATE',
      'endDate must be at least one minute greater than startDate',
    );
  if (start < now - windowMs)
    throw apiError(400, 'INVALID_REPLICATION_DATE', 'startDate is too far in the past');
  const covered = formatDatetime(Math.min(end, Math.floor(now / minute) * minute));
  return { start, end, covered };
}

/** GET /sobjects/{T}/deleted?start=&end=: the delete log of the last 15 days. */
export function deletedRows(context: ApiContext): Reply {
  const object = objectParam(context);
  const { start, end, covered } = period(context, recycleBinMs);
  const now = context.org.ground.clock.now();
  const found = deletions(context.org.store, object, start, end);
  return json(200, {
    deletedRecords: found.map(({ id, at }) => ({ deletedDate: formatDatetime(at), id })),
    earliestDateAvailable: formatDatetime(Math.max(context.org.createdAt, now - recycleBinMs)),
    latestDateCovered: covered,
  });
}

/** GET /sobjects/{T}/updated?start=&end= */
export function updatedRows(context: ApiContext): Reply {
  const object = objectParam(context);
  const { start, end, covered } = period(context, updatedWindowMs);
  const [from, to] = [formatDatetime(start), formatDatetime(end)];
  const ids: string[] = [];
  for (const row of scan(context.org.store, object, false, end)) {
    if (changedIn(row, from, to)) ids.push(String(row['Id']));
  }
  return json(200, { ids, latestDateCovered: covered });
}

function changedIn(row: Row, from: string, to: string): boolean {
  const at = String(row['SystemModstamp']);
  return at >= from && at < to;
}
