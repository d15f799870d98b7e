import { patiently } from '../suite/processes.ts';
import type { Contact } from './contacts.ts';
import { deletionOf, versionOf, type Arrivals, type Told } from './read-ledger.ts';
import type { Findings } from './report.ts';
import type { World } from './world.ts';

interface Row {
  id: string;
  version: string;
  deleted: boolean;
  companies: string;
}

interface Run {
  id: string;
  type: string;
  status: string;
  result: string | null;
  total: number;
  succeeded: number;
  installation: string;
}

/** Compares the provider with the ledger of the receiver and with the table, and both with what the runs say of themselves. */
export async function judgeReads(
  { database, receiver }: World,
  { ledger, warehouse, installations, linked }: Arrivals,
  contacts: readonly Contact[],
): Promise<Pick<Findings, 'counts' | 'violations'>> {
  const rows = await rowsOf<Row>(() =>
    warehouse.raw(`SELECT record_id AS id, _svc_version AS version, _svc_deleted AS deleted, (
        SELECT coalesce(string_agg(c->>'id', ' ' ORDER BY c->>'id' COLLATE "C"), '')
        FROM jsonb_array_elements(associations->'companies') c) AS companies
      FROM crm.people`),
  );
  const older = await rowsOf<{ what: string }>(() =>
    warehouse.raw(`SELECT record_id || ' ' || version || ' after ' || before AS what FROM (
      SELECT record_id, version, lag(version) OVER (PARTITION BY record_id ORDER BY n) AS before FROM crm.history) h
      WHERE version COLLATE "C" < before COLLATE "C"`),
  );
  const runs = await rowsOf<Run>(() =>
    database.raw(
      `SELECT id, request->'read'->>'type' AS type, status, result, total::int, succeeded::int,
        installation_id AS installation FROM operation`,
    ),
  );
  const table = new Map(rows.map((row) => [row.id, row]));
  const ids = new Set(contacts.map(({ id }) => id));
  const told = (contact: Contact): boolean => ledger.versions.has(keyOf(contact));
  const stands = ({ id, version, deleted }: Contact): boolean => {
    const row = table.get(id);
    return row?.deleted === deleted && (deleted || row.version === version);
  };
  const types = new Map(runs.map(({ id, type }) => [id, type]));
  const linksOf = ({ id }: Contact): string => (linked.get(id) ?? []).join(' ');
  const standing = contacts.filter(({ deleted }) => !deleted);
  const { requests, arrivals, unverified, changed } = receiver;
  const arrived = (run: Run): number =>
    run.installation === installations.hook ? (ledger.byOperation.get(run.id) ?? 0) : run.succeeded;
  return {
    counts: {
      contacts: contacts.length,
      versions: ledger.size(),
      runs: runs.length,
      requests: requests(),
      repeats: [...arrivals.values()].reduce((total, { times }) => total + times - 1, 0),
    },
    violations: {
      missing: contacts.filter((contact) => !told(contact)).map(keyOf),
      missingInTable: contacts.filter((contact) => !stands(contact)).map(keyOf),
      strangeInTable: rows.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
      linksMissing: standing.filter((one) => !ledger.links.get(one.id)?.has(linksOf(one))).map(keyOf),
      linksInTable: standing
        .filter((one) => table.get(one.id)?.companies !== linksOf(one))
        .map((one) => `${one.id}: ${table.get(one.id)?.companies} instead of ${linksOf(one)}`),
      older: older.map(({ what }) => what),
      twice: [...ledger.versions].filter(([, all]) => isTwice(all, types)).map(([key]) => key),
      uneven: runs
        .filter((run) => run.total !== run.succeeded || run.total !== arrived(run))
        .map((run) => `${run.id}: ${run.total} emitted, ${run.succeeded} delivered, ${arrived(run)} arrived`),
      failed: runs.filter(({ status }) => status !== 'success').map(({ id, result }) => `${id} ${result}`),
      unverified,
      changed,
    },
  };
}

function keyOf({ id, version, deleted }: Contact): string {
  return deleted ? deletionOf(id) : versionOf(id, version);
}

/** One run tells each version once, under one `webhook-id`; so do scheduled runs among one another. */
function isTwice(all: readonly Told[], types: ReadonlyMap<string, string>): boolean {
  const scheduled = all.filter(({ operationId }) => types.get(operationId) === 'scheduled');
  const runs = all.map(({ operationId }) => operationId);
  return scheduled.length > 1 || new Set(runs).size < runs.length;
}

async function rowsOf<One>(query: () => Promise<Record<string, unknown>[]>): Promise<One[]> {
  return (await patiently(query)) as unknown as One[];
}
