import { currentActor, record, wholeProject, type Reach } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { isId } from '../kit/ids.ts';
import type { Slice } from '../kit/paging.ts';
import { problem, refuse, type Problem } from '../kit/problem.ts';
import type { Projects } from '../projects/index.ts';
import type { Catalog, ProviderClient } from '../providers/index.ts';
import { createBudget, type Budget, type Caller } from './budget/index.ts';
import { createProviderClient } from './client.ts';
import { withWorkspace, type Credential } from './credentials/index.ts';
import { createKeepAlive, type KeepAlive } from './keep-alive/index.ts';
import {
  beginConnect,
  beginUpdate,
  deadFlow,
  finishFlow,
  openFlow,
  type CallbackQuery,
  type FlowDeps,
  type FlowEnd,
  type Opened,
  type PageOwner,
} from './oauth/index.ts';
import type { Owner } from './owner-store.ts';
import { connectionOf, present, type Connection } from './present.ts';
import { connectWith, type BroughtToken, type ProofDeps } from './proof/index.ts';
import { createKeeper, heldAgeMs, holdRow, holdToken, type Keeper } from './refresh/index.ts';
import { mayBeUsedElsewhere, revokeAtProvider, revokeLate } from './revoke.ts';
import type {
  Connection as WireConnection,
  ConnectionRequest,
  OAuthConnectRequest,
  UpdateConnectionRequest,
} from './schema.ts';
import {
  deleteConnection,
  describeConnection,
  findConnection,
  findDefaultConnection,
  holdConnection,
  listConnections,
  type ConnectionFilter,
  type ConnectionKey,
  type ConnectionRow,
} from './store.ts';
import { createNewTokens } from './tokens/index.ts';
import { shareOf } from './share.ts';
import { planUpdate } from './update.ts';

/** Speaks to the provider as a connection. */
export interface ConnectionClient extends ProviderClient {
  /** Of the credentials in place when it was made: its calls carry these, or newer ones. */
  readonly generation: number;
}

export interface ConnectionsOptions {
  /** Of the calls of a day, what history leaves to everything else. */
  backfillReservePercent?: number | undefined;
  projects: Projects;
  catalog: Catalog;
}

/** The customers' accounts at the providers: made, kept alive, used. Every function throws not-found for another project's id. */
export interface Connections {
  /** Says whose the path of a request is. */
  readonly projects: Pick<Projects, 'confine'>;
  /** What the providers let each connection do, over all nodes. */
  readonly budget: Budget;
  /** Work of the nodes that work; nothing runs until it is started. */
  readonly keepAlive: KeepAlive;
  get(reach: Reach, id: string): Promise<Connection>;
  /** Newest first. */
  list(reach: Reach, filter: ConnectionFilter, slice?: Slice): Promise<Connection[]>;
  /** The newest that works, else the newest that was not set aside. */
  findDefault(reach: Reach, groupRef: string, provider: string): Promise<Connection | undefined>;
  /** On the wire, without secrets. */
  present(connection: Connection): WireConnection;
  /** On the wire, with the access token and, if asked for, the refresh token; for scopes `full` and `develop`. */
  presentWithSecrets(connection: Connection, refreshToken: boolean): Promise<WireConnection>;
  /** Starts OAuth in a browser; returns the link to open. */
  startOAuth(projectId: string, request: OAuthConnectRequest): Promise<string>;
  /** The same, for a connection that is there. */
  restartOAuth(reach: Reach, id: string): Promise<string>;
  /** A browser opens the link: where it goes on, or why the link does not hold. */
  openOAuth(state: string | undefined, cookies: string | undefined): Promise<Opened | FlowEnd>;
  /** The provider sends a browser back, with the header Cookie that it has here. */
  finishOAuth(query: CallbackQuery, cookies: string | undefined): Promise<FlowEnd>;
  /** Whose page tells how a flow of the project ended. Pages of the origins that may call hear it, and ours. */
  pageOwnerOf(projectId: string): Promise<PageOwner>;
  /** Connects with credentials at hand, after trying them. */
  generate(projectId: string, request: ConnectionRequest): Promise<Connection>;
  update(reach: Reach, id: string, request: UpdateConnectionRequest): Promise<Connection>;
  delete(reach: Reach, id: string): Promise<void>;
  /**
   * In a transaction of the caller: holds the connection, so that no installation comes to it, and deletes it if it may go.
   * Answers what is to be done after the commit; undefined when it stays, or is gone.
   */
  deleteIf(
    tx: Queryable,
    key: ConnectionKey,
    mayGo: (connection: Connection) => boolean | Promise<boolean>,
  ): Promise<(() => Promise<void>) | undefined>;
  /** Refreshes the token: in any case, or only when it is over. The audit log names the group. */
  refresh(projectId: string, id: string, when: 'force' | 'ifExpired', groupRef?: string): Promise<void>;
  /** Speaks to the provider as the connection; the log says for whom. Throws connection-bad-credentials, not-found. */
  client(projectId: string, id: string, caller?: Caller): Promise<ConnectionClient>;
  /** What its calls share with those of others. Throws not-found, credentials-rejected; nobody is called. */
  shareOf(projectId: string, id: string): Promise<readonly string[]>;
  /** What to put on a call, from memory while it is fresh. Throws connection-bad-credentials, not-found. */
  credential(projectId: string, id: string): Promise<Credential>;
  /** After a 401 with the given generation: the next one, or the same when the 401 is not about its age. One refresh over all nodes. */
  renew(projectId: string, id: string, generation: number): Promise<Credential>;
  /** A call succeeded. Writes only on a change, and off the path. */
  markWorking(projectId: string, id: string): void;
  markBadCredentials(projectId: string, id: string, generation: number, detail: string): Promise<void>;
  /** Called with each connection whose credentials this node found dead, once no node takes them for alive. */
  onDead(listener: (projectId: string, id: string) => void): void;
  close(): Promise<void>;
}

export function createConnections(ground: Ground, options: ConnectionsOptions): Connections {
  const deps = {
    ground,
    ...options,
    newTokens: createNewTokens(),
    holdToken: (brought: BroughtToken) => holdToken(ground, brought),
  };
  const listeners: ((projectId: string, id: string) => void)[] = [];
  const keeper = createKeeper({
    ...deps,
    onDead: ([projectId, id]) => {
      const tell = (): void => listeners.forEach((listener) => listener(projectId, id));
      setTimeout(tell, heldAgeMs).unref();
    },
    onGone: (row, secrets) => revokeLate(deps, { row, secrets: () => secrets }),
  });
  const budget = createBudget(ground, options.catalog, options);
  const { projects } = options;
  return {
    projects,
    budget,
    keepAlive: createKeepAlive(ground, options.catalog, (key) => keeper.refresh(key)),
    ...reading(deps, budget),
    ...connecting(deps, keeper),
    ...calling(deps, keeper, budget),
    onDead: (listener) => void listeners.push(listener),
    close: async () => {
      await keeper.close();
      void budget.end();
    },
  };
}

type Reading = Pick<Connections, 'get' | 'list' | 'findDefault' | 'present' | 'presentWithSecrets'>;

function reading({ ground, catalog }: FlowDeps, budget: Budget): Reading {
  return {
    get: (reach, id) => load(ground, reach, id),
    list: async (reach, filter, slice) =>
      (await listConnections(ground.database, reach, filter, slice)).map(connectionOf),
    async findDefault(reach, groupRef, provider) {
      const row = await findDefaultConnection(ground.database, reach, groupRef, provider);
      return row && connectionOf(row);
    },
    present: (connection) => ({ ...present(connection), ...rateOf(budget, connection) }),
    async presentWithSecrets({ id, row, ...connection }, refreshToken) {
      await record(ground.database, {
        projectId: row.project_id,
        action: 'connection.disclosed',
        targetId: id,
        details: { groupRef: row.group_ref, refreshToken },
      });
      return present(
        { ...connection, id, row },
        { secrets: holdRow(ground, catalog, row).secrets(), refreshToken },
      );
    },
  };
}

/** From memory: what this node knows of it. */
function rateOf(budget: Budget, { projectId, id }: Connection): Pick<WireConnection, 'rateBudget'> {
  const closure = budget.closed(projectId, id);
  const { limit, remaining } = budget.quota(projectId, id) ?? {};
  const rateBudget = {
    ...(closure ? { closedUntil: new Date(closure.until).toISOString(), lockedOut: closure.lockedOut } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
  };
  return Object.keys(rateBudget).length > 0 ? { rateBudget } : {};
}

type Connecting = Pick<
  Connections,
  | 'startOAuth'
  | 'restartOAuth'
  | 'openOAuth'
  | 'finishOAuth'
  | 'pageOwnerOf'
  | 'generate'
  | 'update'
  | 'delete'
  | 'deleteIf'
>;

function connecting(deps: FlowDeps & ProofDeps, keeper: Keeper): Connecting {
  const { ground, catalog, projects } = deps;
  return {
    startOAuth: async (projectId, request) => beginConnect(deps, projectId, withWorkspace(request)),
    restartOAuth: async (reach, id) => beginUpdate(deps, (await load(ground, reach, id)).row),
    openOAuth: async (state, cookies) =>
      (state === undefined ? undefined : await openFlow(deps, state, cookies)) ?? deadFlow(deps, state),
    async pageOwnerOf(projectId) {
      const { appName, branding } = await projects.get(projectId);
      const hearers = [new URL(ground.publicUrl).origin, ...(await projects.originsOf(projectId))];
      return { appName, branding, hearers };
    },
    async finishOAuth(query, cookies) {
      const end = await finishFlow(deps, query, cookies);
      if ('connectionId' in end) keeper.forget([end.projectId, end.connectionId]);
      return end;
    },
    async generate(projectId, asked) {
      const request = withWorkspace(asked);
      const { provider: name, owner } = requiredOf(request);
      const id = await connectWith(deps, projectId, catalog.get(name), request, { owner });
      keeper.forget([projectId, id]);
      return load(ground, wholeProject(projectId), id);
    },
    async update(reach, id, request) {
      const { projectId } = reach;
      const key: ConnectionKey = [projectId, id];
      await load(ground, reach, id);
      const asked = await ground.database.transaction((tx) => describeIn(deps, tx, key, request));
      if (asked) {
        const { row, replacing } = asked;
        const owner = { groupRef: row.group_ref, consumerRef: row.consumer_ref };
        await connectWith(deps, projectId, catalog.get(row.provider), replacing, { owner, connectionId: id });
      }
      keeper.forget(key);
      return load(ground, reach, id);
    },
    async delete(reach, id) {
      await load(ground, reach, id);
      const finish = await ground.database.transaction((tx) =>
        deleteIn(deps, keeper, tx, [reach.projectId, id], () => true),
      );
      await finish?.();
    },
    deleteIf: (tx, key, mayGo) => deleteIn(deps, keeper, tx, key, mayGo),
  };
}

/** Describes the connection anew by what is so of it until the transaction ends; what asks for other credentials is answered, undone. */
async function describeIn(
  { catalog }: FlowDeps,
  tx: Queryable,
  key: ConnectionKey,
  request: UpdateConnectionRequest,
): Promise<{ row: ConnectionRow; replacing: ConnectionRequest } | undefined> {
  const [projectId, targetId] = key;
  const row = await holdConnection(tx, key);
  if (!row) throw noConnection(targetId);
  const plan = planUpdate(catalog.get(row.provider), row, request);
  if (plan.kind === 'replace') return { row, replacing: plan.request };
  const told = await describeConnection(tx, key, plan.description);
  const details = { groupRef: row.group_ref, changed: Object.keys(plan.description) };
  await record(tx, { projectId, action: 'connection.updated', targetId, details, told });
  return undefined;
}

async function deleteIn(
  deps: FlowDeps,
  keeper: Keeper,
  tx: Queryable,
  key: ConnectionKey,
  mayGo: Parameters<Connections['deleteIf']>[2],
): ReturnType<Connections['deleteIf']> {
  const { ground, catalog } = deps;
  const row = await holdConnection(tx, key);
  if (!row || !(await mayGo(connectionOf(row)))) return undefined;
  const [projectId, id] = key;
  const told = await deleteConnection(tx, key);
  const details = {
    provider: row.provider,
    groupRef: row.group_ref,
    mayBeUsedElsewhere: mayBeUsedElsewhere(row),
  };
  await record(tx, { projectId, action: 'connection.deleted', targetId: id, details, told });
  return async () => {
    keeper.forget(key);
    await revokeAtProvider(deps, holdRow(ground, catalog, row));
  };
}

type Calling = Pick<
  Connections,
  'refresh' | 'client' | 'shareOf' | 'credential' | 'renew' | 'markWorking' | 'markBadCredentials'
>;

function calling({ ground, catalog }: FlowDeps, keeper: Keeper, budget: Budget): Calling {
  return {
    async refresh(projectId, id, when, groupRef) {
      await record(ground.database, {
        projectId,
        action: 'connection.refreshed',
        targetId: id,
        details: { groupRef, when },
      });
      if (when === 'force') await keeper.refresh([projectId, id]);
      else await keeper.credential([projectId, id]);
    },
    async client(projectId, id, caller) {
      const key: ConnectionKey = [projectId, id];
      const { row } = await keeper.usable(key);
      const whose = { groupRef: row.group_ref, requestId: currentActor().requestId };
      const client = createProviderClient({
        ground,
        provider: row.provider,
        whose: `${projectId} ${row.group_ref}`,
        credential: () => keeper.credential(key),
        renew: (generation) => keeper.renew(key, generation),
        markWorking: () => keeper.markWorking(key),
        observe: (answer, generation) => {
          void budget.observe(projectId, id, row.provider, answer, { ...whose, ...caller, generation });
        },
      });
      return { ...client, generation: row.generation };
    },
    async shareOf(projectId, id) {
      const held = await keeper.held([projectId, id]);
      return shareOf(catalog.get(held.row.provider), held.credential().origin);
    },
    credential: (projectId, id) => keeper.credential([projectId, id]),
    renew: (projectId, id, generation) => keeper.renew([projectId, id], generation),
    markWorking: (projectId, id) => keeper.markWorking([projectId, id]),
    markBadCredentials: (projectId, id, generation, detail) =>
      keeper.markBad([projectId, id], generation, detail),
  };
}

async function load(ground: Ground, reach: Reach, id: string): Promise<Connection> {
  const row = isId(id) ? await findConnection(ground.database, reach, id) : undefined;
  if (!row) throw noConnection(id);
  return connectionOf(row);
}

function noConnection(id: string): Problem {
  return problem('not-found', { detail: `There is no connection ${id}.` });
}

function requiredOf(request: ConnectionRequest): { provider: string; owner: Owner } {
  const { provider, groupRef, groupName, consumerRef, consumerName } = request;
  if (provider !== undefined && groupRef !== undefined && consumerRef !== undefined) {
    return { provider, owner: { groupRef, groupName, consumerRef, consumerName } };
  }
  const missing = (['provider', 'groupRef', 'consumerRef'] as const).filter(
    (name) => request[name] === undefined,
  );
  throw refuse(missing.map((name) => ({ in: 'body', name, detail: 'is required' })));
}
