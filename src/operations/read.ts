import type { Queryable } from '../kit/db/database.ts';
import { isId } from '../kit/ids.ts';
import { badToken, beforeIdOf, pageOf, readToken } from '../kit/paging.ts';
import { problem } from '../kit/problem.ts';
import { presentLog, presentOperation, presentRecord } from './present.ts';
import type { Operation, OperationLog, OperationPage, OperationRecordPage } from './schema.ts';
import * as store from './store/read.ts';
import { written, type WrittenRow } from './store/written.ts';

/** Whose operations may be seen. */
export interface Viewer {
  projectId: string;
  /** When present, only operations of this group's installations. */
  groupRef?: string | undefined;
}

export interface PageRequest {
  /** 1 to 1,000. */
  pageSize: number;
  pageToken?: string | undefined;
}

/** Reads of the ledger. Throw `not-found` for what does not exist for the viewer. */
export interface Reader {
  get(viewer: Viewer, operationId: string): Promise<Operation>;
  /** Newest first. That the installation may be seen is the caller's to check. */
  list(projectId: string, installationId: string, page: PageRequest): Promise<OperationPage>;
  /** Oldest first. */
  logs(viewer: Viewer, operationId: string): Promise<OperationLog[]>;
  /** In the order of the request. */
  records(viewer: Viewer, operationId: string, page: PageRequest): Promise<OperationRecordPage>;
  /** The operation as it was accepted, with all records: to answer it again, or to repeat it. */
  written(viewer: Viewer, operationId: string): Promise<WrittenOperation>;
}

export interface WrittenOperation {
  operation: Operation;
  /** As its action keeps it. */
  request: Record<string, unknown>;
  records: WrittenRow[];
}

const maxLogs = 1_000;

export function createReader(db: Queryable): Reader {
  async function find({ projectId, groupRef }: Viewer, operationId: string): Promise<store.OperationRow> {
    const row = isId(operationId) ? await store.find(db, projectId, operationId, groupRef) : undefined;
    if (!row) throw problem('not-found', { detail: `There is no operation ${operationId}.` });
    return row;
  }

  return {
    get: async (viewer, operationId) => presentOperation(await find(viewer, operationId)),
    async list(projectId, installationId, { pageSize, pageToken }) {
      const before = beforeIdOf(pageToken);
      const rows = await store.list(db, projectId, installationId, before, pageSize + 1);
      const { results, pagination } = pageOf(rows, pageSize, (row) => row.id);
      return { results: results.map(presentOperation), pagination };
    },
    async logs(viewer, operationId) {
      await find(viewer, operationId);
      return (await store.logs(db, viewer.projectId, operationId, maxLogs)).map(presentLog);
    },
    async records(viewer, operationId, { pageSize, pageToken }) {
      const after = pageToken === undefined ? '-1' : readToken(pageToken);
      if (!/^-1$|^\d{1,9}$/.test(after)) throw badToken();
      await find(viewer, operationId);
      const rows = await store.records(db, viewer.projectId, operationId, Number(after), pageSize + 1);
      const { results, pagination } = pageOf(rows, pageSize, (row) => String(row.slot));
      return { results: results.map(presentRecord), pagination };
    },
    async written(viewer, operationId) {
      const row = await find(viewer, operationId);
      const records = await written(db, viewer.projectId, operationId);
      return { operation: presentOperation(row), request: row.request, records };
    },
  };
}
