import type { Reach } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import type { Followed } from '../kit/db/document-page.ts';
import { firstIdAt, isId, timeOf } from '../kit/ids.ts';
import { badToken, beforeIdOf, pageOf, readToken, wholeList } from '../kit/paging.ts';
import type { Page } from '../kit/paging-schema.ts';
import { problem } from '../kit/problem.ts';
import { presentExchange } from './exchanges/exchange.ts';
import { listExchanges } from './exchanges/store.ts';
import { listOperations } from './list.ts';
import { listOldestOperations } from './list-oldest.ts';
import { presentLog, presentOperation, presentRecord, presentWritten } from './present.ts';
import type {
  Operation,
  OperationExchangePage,
  OperationLog,
  OperationPage,
  OperationQuery,
  OperationRecordPage,
  WrittenRecord,
} from './schema.ts';
import * as store from './store/read.ts';
import { written, type WrittenRow } from './store/written.ts';

export interface PageRequest {
  /** 1 to 1,000. */
  pageSize: number;
  pageToken?: string | undefined;
}

/** Reads of the ledger. Throw `not-found` for what does not exist for the caller. */
export interface Reader {
  get(reach: Reach, operationId: string): Promise<Operation>;
  /** Those of the project that are still kept. That they may be seen is the caller's to check. */
  getAll(projectId: string, operationIds: readonly string[]): Promise<Operation[]>;
  /** Newest first. That the installation may be seen is the caller's to check. */
  list(projectId: string, installationId: string, page: PageRequest): Promise<OperationPage>;
  /** Across installations. A page with fewer than were asked for is not the last unless it says so. */
  listAll(reach: Reach, query: OperationQuery): Promise<OperationPage>;
  /** The same of what is not under way, the oldest first, and nothing that is accepted after the first page was asked for. */
  listOldest(reach: Reach, query: OperationQuery): Promise<OperationPage>;
  /** Of those that a filter finds, what is not done yet, with the place of its work; without one it gathers. */
  listUnfinished(
    reach: Reach,
    filter: Omit<OperationQuery, 'status' | 'pageSize' | 'pageToken'>,
    pageSize: number,
    pageToken?: string,
  ): Promise<Page<{ id: string; seq: string | undefined }>>;
  /** All, oldest first; a long one in parts. */
  logs(reach: Reach, operationId: string): Promise<OperationLog[] | AsyncIterable<OperationLog[]>>;
  /** What was sent to the provider and what it answered, oldest first. */
  exchanges(reach: Reach, operationId: string, page: PageRequest): Promise<OperationExchangePage>;
  /** In the order of the request. */
  records(reach: Reach, operationId: string, page: PageRequest): Promise<OperationRecordPage>;
  /** One of them, by its place in the request, with what was asked for. */
  record(reach: Reach, operationId: string, index: number): Promise<WrittenRecord>;
  /** The operation as it was accepted, with all records: to answer it again, or to repeat it. */
  written(reach: Reach, operationId: string): Promise<WrittenOperation>;
}

export interface WrittenOperation {
  operation: Operation;
  /** As its action keeps it. */
  request: Record<string, unknown>;
  records: WrittenRow[];
}

function paginationOf(nextPageToken: string | undefined): OperationPage['pagination'] {
  return nextPageToken === undefined ? { done: true } : { done: false, nextPageToken };
}

/** Of a log, lines that are read at once. */
const linesAtOnce = 1_000;
/** Clocks of nodes differ by less: an exchange is looked for from so long before its operation. */
const dayMs = 86_400_000;

export function createReader(db: Queryable): Reader {
  const find = (reach: Reach, operationId: string) => findOperation(db, reach, operationId);
  return {
    ...recordsReader(db),
    get: async (reach, operationId) => presentOperation(await find(reach, operationId)),
    getAll: async (projectId, operationIds) =>
      (await store.findAll(db, projectId, operationIds)).map(presentOperation),
    async list(projectId, installationId, { pageSize, pageToken }) {
      const before = beforeIdOf(pageToken);
      const rows = await store.list(db, projectId, installationId, before, pageSize + 1);
      const { results, pagination } = pageOf(rows, pageSize, (row) => row.id);
      return { results: results.map(presentOperation), pagination };
    },
    async listAll(reach, { pageSize, pageToken, ...question }) {
      const { found, nextPageToken } = await listOperations(db, reach, question, pageSize, pageToken);
      return {
        results: found.map(({ row }) => presentOperation(row)),
        pagination: paginationOf(nextPageToken),
      };
    },
    async listOldest(reach, { pageSize, pageToken, ...question }) {
      const { found, nextPageToken } = await listOldestOperations(db, reach, question, pageSize, pageToken);
      return {
        results: found.map(({ row }) => presentOperation(row)),
        pagination: paginationOf(nextPageToken),
      };
    },
    async listUnfinished(reach, filter, pageSize, pageToken) {
      const question = { ...filter, status: 'in_progress' as const };
      const { found, nextPageToken } = await listOperations(db, reach, question, pageSize, pageToken);
      const results = found.map(({ row: { id }, seq }) => ({ id, seq }));
      return { results, pagination: paginationOf(nextPageToken) };
    },
    async logs(reach, operationId) {
      const { id } = await find(reach, operationId);
      return wholeList(
        async (last?: store.LogRow & Followed) => {
          const rows = await store.logs(db, reach.projectId, id, last?.id, linesAtOnce + 1);
          const followed = rows.length > linesAtOnce;
          return rows.slice(0, linesAtOnce).map((row) => Object.assign(row, { followed }));
        },
        (rows) => rows.map(presentLog),
      );
    },
    async exchanges(reach, operationId, { pageSize, pageToken }) {
      const { id } = await find(reach, operationId);
      const first = firstIdAt(new Date(timeOf(id) - dayMs).toISOString());
      const after = pageToken === undefined ? first : readToken(pageToken);
      if (pageToken !== undefined && !isId(after)) throw badToken();
      const rows = await listExchanges(db, reach.projectId, id, after, pageSize + 1);
      const { results, pagination } = pageOf(rows, pageSize, (row) => row.id);
      return { results: results.map(presentExchange), pagination };
    },
    async written(reach, operationId) {
      const row = await find(reach, operationId);
      const records = await written(db, reach.projectId, operationId);
      return { operation: presentOperation(row), request: row.request, records };
    },
  };
}

function recordsReader(db: Queryable): Pick<Reader, 'records' | 'record'> {
  return {
    async records(reach, operationId, { pageSize, pageToken }) {
      const after = pageToken === undefined ? '-1' : readToken(pageToken);
      if (!/^-1$|^\d{1,9}$/.test(after)) throw badToken();
      await findOperation(db, reach, operationId);
      const rows = await store.records(db, reach.projectId, operationId, Number(after), pageSize + 1);
      const { results, pagination } = pageOf(rows, pageSize, (row) => String(row.slot));
      return { results: results.map(presentRecord), pagination };
    },
    async record(reach, operationId, index) {
      await findOperation(db, reach, operationId);
      const row = await store.record(db, reach.projectId, operationId, index);
      if (!row) throw problem('not-found', { detail: `The operation has no record ${index}.` });
      return presentWritten(row);
    },
  };
}

async function findOperation(db: Queryable, reach: Reach, operationId: string): Promise<store.OperationRow> {
  const row = isId(operationId) ? await store.find(db, reach, operationId) : undefined;
  if (!row) throw problem('not-found', { detail: `There is no operation ${operationId}.` });
  return row;
}
