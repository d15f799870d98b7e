import { beforeAndAfter, record } from '../../events/index.ts';
import type { Database, Queryable } from '../../kit/db/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { isId, newId } from '../../kit/ids.ts';
import { problem, refuse } from '../../kit/problem.ts';
import { sealedColumn } from '../../kit/rotation.ts';
import type { Vault } from '../../kit/vault.ts';
import type { Catalog } from '../../providers/index.ts';
import type { ProviderApp, ProviderAppMetadata } from '../schema.ts';
import * as store from './store.ts';

/** The builder's OAuth client at a provider, with its secret: only for what talks to the provider. */
export interface ProviderAppSecrets {
  id: string;
  clientId: string;
  clientSecret: string;
  scopes: string[];
  metadata: ProviderAppMetadata;
}

export interface ProviderAppInput {
  provider: string;
  clientId: string;
  clientSecret: string;
  externalRef?: string;
  scopes?: string[];
  metadata?: ProviderAppMetadata;
  /** Connections that name no app use this one from now on. */
  isDefault?: true;
}

export interface ProviderApps {
  list(projectId: string): Promise<ProviderApp[]>;
  create(projectId: string, given: ProviderAppInput): Promise<ProviderApp>;
  update(projectId: string, id: string, change: Partial<ProviderAppInput>): Promise<ProviderApp>;
  delete(projectId: string, id: string): Promise<void>;
  /** The named app, or the provider's default: the first, until another is chosen. Throws provider-app-missing. */
  secrets(projectId: string, provider: string, id?: string): Promise<ProviderAppSecrets>;
}

export function createProviderApps(
  ground: Pick<Ground, 'database' | 'vault'>,
  catalog: Catalog,
): ProviderApps {
  const { database, vault } = ground;
  return {
    list: async (projectId) => (await store.listProviderApps(database, projectId)).map(present),
    async create(projectId, given) {
      check(given, catalog);
      const id = newId();
      const app = {
        project_id: projectId,
        id,
        provider: given.provider,
        client_id: given.clientId,
        client_secret: vault.seal(given.clientSecret, placeOf(projectId, id)),
        external_ref: given.externalRef ?? null,
        scopes: given.scopes ?? null,
        metadata: given.metadata ?? {},
      };
      const { provider, clientId, scopes } = given;
      const details = { provider, clientId, scopes };
      return database.transaction(async (tx) => {
        await store.lockProviderApps(tx, projectId);
        await refuseTwin(tx, app);
        await store.insertProviderApp(tx, app);
        await record(tx, { projectId, action: 'providerApp.created', targetId: id, details });
        return withDefault(tx, projectId, id, given.isDefault === true);
      });
    },
    async update(projectId, id, change) {
      if (!isId(id)) absent(id);
      return database.transaction(async (tx) => {
        await store.lockProviderApps(tx, projectId);
        const row = (await store.lockProviderApp(tx, projectId, id)) ?? absent(id);
        const merged = merge(row, change, vault);
        check({ provider: merged.provider, scopes: merged.scopes ?? [] }, catalog);
        if (isOtherClient(row, merged)) await refuseTwin(tx, merged);
        const details = { changed: Object.keys(change), ...beforeAndAfter(told(row), told(merged)) };
        await record(tx, { projectId, action: 'providerApp.updated', targetId: id, details });
        const moves = merged.provider !== row.provider;
        if (moves && row.is_default) await store.unmarkDefault(tx, projectId, row.provider);
        await store.updateProviderApp(tx, merged);
        return withDefault(tx, projectId, id, change.isDefault === true);
      });
    },
    delete: (projectId, id) => deleteApp(database, projectId, id),
    async secrets(projectId, provider, id) {
      const row = await find(database, projectId, provider, id);
      if (!row || row.provider !== provider) throw missing(provider, id);
      return opened(row, vault);
    },
  };
}

async function deleteApp(database: Database, projectId: string, id: string): Promise<void> {
  if (!isId(id)) absent(id);
  await database.transaction(async (tx) => {
    await store.lockProviderApps(tx, projectId);
    if (!(await store.deleteProviderApp(tx, projectId, id))) absent(id);
    await store.restoreDefaults(tx, projectId);
    await record(tx, { projectId, action: 'providerApp.deleted', targetId: id });
  });
}

/** For the rotation of the master keys. */
export const sealedProjectColumns = [
  sealedColumn({
    table: 'provider_app',
    rowId: { column: 'id', first: '00000000-0000-0000-0000-000000000000' },
    column: 'client_secret',
    place: (projectId, id) => placeOf(projectId, String(id)),
  }),
];

function placeOf(projectId: string, id: string): string {
  return `${projectId}/${id}/client_secret`;
}

async function find(
  db: Queryable,
  projectId: string,
  provider: string,
  id?: string,
): Promise<store.ProviderAppRow | undefined> {
  if (id === undefined) return store.findDefaultProviderApp(db, projectId, provider);
  return isId(id) ? store.findProviderApp(db, projectId, id) : undefined;
}

/** The app after a change, once each provider has its one default again. */
async function withDefault(
  tx: Queryable,
  projectId: string,
  id: string,
  isChosen: boolean,
): Promise<ProviderApp> {
  const written = (await store.findProviderApp(tx, projectId, id)) ?? absent(id);
  if (isChosen) await store.markDefault(tx, projectId, written.provider, id);
  else await store.restoreDefaults(tx, projectId);
  return present((await store.findProviderApp(tx, projectId, id)) ?? written);
}

function isOtherClient(row: store.ProviderAppRow, { provider, client_id }: store.ProviderAppRow): boolean {
  return provider !== row.provider || client_id !== row.client_id;
}

/** A client has one app in a project, so that its secret and its scopes are in one place. */
async function refuseTwin(tx: Queryable, app: store.ProviderAppValues): Promise<void> {
  const existing = await store.findTwin(tx, app);
  if (existing === undefined) return;
  throw problem('already-exists', {
    detail: `The client id is registered for ${app.provider} already, as the provider app ${existing}.`,
    remedy: 'Change that app (PATCH /v1/projects/{project}/provider-apps/{id}), or send another client id.',
    extra: { providerAppId: existing },
  });
}

function merge(
  row: store.ProviderAppRow,
  change: Partial<ProviderAppInput>,
  vault: Vault,
): store.ProviderAppRow {
  const { clientSecret } = change;
  const sealed =
    clientSecret === undefined
      ? row.client_secret
      : vault.seal(clientSecret, placeOf(row.project_id, row.id));
  return {
    ...row,
    provider: change.provider ?? row.provider,
    client_id: change.clientId ?? row.client_id,
    client_secret: sealed,
    external_ref: change.externalRef ?? row.external_ref,
    scopes: change.scopes ?? row.scopes,
    metadata: change.metadata ?? row.metadata,
  };
}

/** The rules of an app: people agree to it at its provider, and a HubSpot app says its scopes. */
function check({ provider, scopes = [] }: { provider: string; scopes?: string[] }, catalog: Catalog): void {
  const { displayName, oauth2Opts } = catalog.get(provider);
  if (!oauth2Opts?.grantType.startsWith('authorizationCode'))
    throw refuse([
      {
        in: 'body',
        name: 'provider',
        detail: `is ${provider}: ${displayName} has no page where people agree to an app; each account is connected with credentials of its own`,
      },
    ]);
  // RFC 6749, 3.3: a scope has no blank; a list of them in one text would be one that nobody grants.
  const joined = scopes.findIndex((scope) => /\s/.test(scope));
  if (joined !== -1)
    throw refuse([
      {
        in: 'body',
        name: `scopes[${joined}]`,
        detail: 'holds a blank: give each scope its own text',
        value: scopes[joined],
      },
    ]);
  if (provider !== 'hubspot' || scopes.length > 0) return;
  throw refuse([
    { in: 'body', name: 'scopes', detail: 'is required for HubSpot: the scopes set at the app there' },
  ]);
}

function opened(row: store.ProviderAppRow, vault: Vault): ProviderAppSecrets {
  return {
    id: row.id,
    clientId: row.client_id,
    clientSecret: vault.open(row.client_secret, placeOf(row.project_id, row.id)) as string,
    scopes: row.scopes ?? [],
    metadata: row.metadata,
  };
}

/** Without its secret. */
function told(app: store.ProviderAppRow): object {
  const { provider, client_id: clientId, external_ref: externalRef, scopes, metadata } = app;
  return { provider, clientId, externalRef, scopes, metadata };
}

function present(row: store.ProviderAppRow): ProviderApp {
  return {
    id: row.id,
    projectId: row.project_id,
    provider: row.provider,
    clientId: row.client_id,
    ...(row.external_ref === null ? {} : { externalRef: row.external_ref }),
    ...(row.scopes === null ? {} : { scopes: row.scopes }),
    metadata: row.metadata,
    isDefault: row.is_default,
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}

function missing(provider: string, id?: string): Error {
  const detail =
    id === undefined
      ? `The project has no provider app for ${provider}.`
      : `The project has no provider app ${id} for ${provider}.`;
  return problem('provider-app-missing', { detail });
}

function absent(id: string): never {
  throw problem('not-found', {
    detail: `There is no provider app ${JSON.stringify(id.slice(0, 64))} in this project.`,
  });
}
