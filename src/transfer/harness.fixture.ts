import type { Database } from '../kit/db/database.ts';
import { groundOn } from '../connections/ground.fixture.ts';
import type { Ground } from '../kit/ground.ts';
import { newId } from '../kit/ids.ts';
import { generateMasterKey } from '../kit/vault.ts';
import { loadCatalog } from '../providers/index.ts';
import type { ProjectFile } from './schema.ts';
import { createTransfer, type Transfer } from './transfer.ts';

/** Exports and imports on a database, by a server with a master key of its own whose operator keeps everything. */
export function transferOn(
  database: Database,
  ground: Ground = groundOn(database, generateMasterKey('k1')),
): Transfer {
  return createTransfer({
    ...ground,
    catalog: loadCatalog(),
    projects: { boundKeepDays: (asked) => asked, forget: () => undefined },
  });
}

const passphrase = 'correct horse battery staple';

/** Two projects of one database stand for those of two servers. */
export function twoProjects(database: Database): {
  transfer: Transfer;
  from: string;
  to: string;
  /** Connections of `acme` with the same id in both; each as what is set of it, SQL by column. */
  connect(there: Record<string, string>, here?: Record<string, string>): Promise<string>;
  moved(): Promise<{ file: ProjectFile; warnings: string[] }>;
  imported(file: ProjectFile, dryRun?: boolean): ReturnType<Transfer['import']>;
} {
  const ground = groundOn(database, generateMasterKey('k1'));
  const transfer = transferOn(database, ground);
  const [from, to] = [newId(), newId()];
  const insert = async (projectId: string, id: string, set: Record<string, string>): Promise<void> => {
    const secrets = { kind: 'authorizationCode', accessToken: 'a', refreshToken: 'r' };
    const sealed = ground.vault.seal(secrets, `${projectId}/${id}/credentials`).toString('hex');
    const columns = { as_of: `svc_now() - interval '1 hour'`, ...set };
    await database.raw(
      `WITH g AS (INSERT INTO customer_group (project_id, group_ref, name) VALUES ('${projectId}', 'acme', 'Acme') ON CONFLICT DO NOTHING),
         k AS (INSERT INTO group_consumer (project_id, group_ref, consumer_ref, name) VALUES ('${projectId}', 'acme', 'ada', 'Ada') ON CONFLICT DO NOTHING)
       INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, credentials, ${Object.keys(columns).join(', ')})
       VALUES ('${projectId}', '${id}', 'salesforce', 'acme', 'ada', 'oauth2/authorizationCode', 'working', '\\x${sealed}', ${Object.values(columns).join(', ')})`,
    );
  };
  return {
    transfer,
    from,
    to,
    async connect(there, here = {}) {
      const id = newId();
      await insert(from, id, there);
      await insert(to, id, here);
      return id;
    },
    async moved() {
      const asked = { passphrase, move: true };
      const { file, warnings } = await transfer.export({ id: from, name: 'from' }, asked);
      return { file, warnings: warnings.map(({ message }) => message) };
    },
    imported: (file, dryRun = false) => transfer.import(to, { passphrase, file, dryRun }),
  };
}
