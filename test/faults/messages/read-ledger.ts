import type { Database } from '../../../src/kit/db/database.ts';

/** A version of a record in a message that arrived. */
export interface Told {
  webhookId: string;
  operationId: string;
  readType: string;
}

/** What a receiver of records knows, by their versions. */
export interface ReadLedger {
  /** Told of each message once. */
  add: (webhookId: string, body: string) => void;
  /** By id and version; a deleted record by its id and `deleted`. */
  versions: ReadonlyMap<string, readonly Told[]>;
  /** Records by the run that told of them. */
  byOperation: ReadonlyMap<string, number>;
  size(): number;
}

/** What arrives, and where. */
export interface Arrivals {
  ledger: ReadLedger;
  /** The database of the `table` destination. */
  warehouse: Database;
  /** The installations that are read for each destination. */
  installations: { hook: string; table: string };
}

interface Body {
  operationId: string;
  readType: string;
  result: {
    id?: string;
    deleted?: boolean;
    raw: { id: string; properties: { lastmodifieddate: string } };
  }[];
}

export function createReadLedger(): ReadLedger {
  const versions = new Map<string, Told[]>();
  const byOperation = new Map<string, number>();
  return {
    versions,
    byOperation,
    size: () => versions.size,
    add(webhookId, text) {
      const { operationId, readType, result } = JSON.parse(text) as Body;
      byOperation.set(operationId, (byOperation.get(operationId) ?? 0) + result.length);
      for (const { id, deleted, raw } of result) {
        const key = deleted ? deletionOf(id ?? '') : versionOf(raw.id, raw.properties.lastmodifieddate);
        const told = versions.get(key) ?? [];
        told.push({ webhookId, operationId, readType });
        versions.set(key, told);
      }
    },
  };
}

export function versionOf(id: string, version: string): string {
  return `${id} ${new Date(version).toISOString()}`;
}

export function deletionOf(id: string): string {
  return `${id} deleted`;
}
