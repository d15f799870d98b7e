import type { Database } from '../../../src/kit/db/database.ts';
import type { Links } from './contacts.ts';

/** A version of a record in a message that arrived. */
export interface Told {
  webhookId: string;
  operationId: string;
}

/** What a receiver of records knows, by their versions. */
export interface ReadLedger {
  /** Told of each message once. */
  add: (webhookId: string, body: string) => void;
  /** By id and version; a deleted record by its id and `deleted`. */
  versions: ReadonlyMap<string, readonly Told[]>;
  /** By id, the companies that a message told of, joined by a space. */
  links: ReadonlyMap<string, ReadonlySet<string>>;
  /** Records by the run that told of them. */
  byOperation: ReadonlyMap<string, number>;
  size(): number;
}

/** What arrives, and where. */
export interface Arrivals {
  ledger: ReadLedger;
  /** The database of the `table` destination. */
  warehouse: Database;
  /** What the contacts are associated with at the end. */
  linked: Links;
  /** The installations that are read for each destination. */
  installations: { hook: string; table: string };
}

interface Body {
  operationId: string;
  result: {
    id?: string;
    deleted?: boolean;
    raw: { id: string; properties: { lastmodifieddate: string } };
    associations?: { companies: { id: string }[] };
  }[];
}

export function createReadLedger(): ReadLedger {
  const versions = new Map<string, Told[]>();
  const byOperation = new Map<string, number>();
  const links = new Map<string, Set<string>>();
  return {
    versions,
    links,
    byOperation,
    size: () => versions.size,
    add(webhookId, text) {
      const { operationId, result } = JSON.parse(text) as Body;
      byOperation.set(operationId, (byOperation.get(operationId) ?? 0) + result.length);
      for (const { id, deleted, raw, associations } of result) {
        const key = deleted ? deletionOf(id ?? '') : versionOf(raw.id, raw.properties.lastmodifieddate);
        const told = versions.get(key) ?? [];
        told.push({ webhookId, operationId });
        versions.set(key, told);
        const linked = (associations?.companies ?? []).map((one) => one.id).toSorted();
        links.set(raw.id, (links.get(raw.id) ?? new Set()).add(linked.join(' ')));
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
