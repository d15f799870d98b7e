import { setTimeout } from 'node:timers/promises';
import { record, wholeProject, type Reach } from '../events/index.ts';
import type { Ground } from '../kit/ground.ts';
import type { OptionalPageQuery, Page } from '../kit/paging-schema.ts';
import { beforeIdOf, listOrPageOfDocuments, pageOf, type Listed } from '../kit/paging.ts';
import { problem, refuse } from '../kit/problem.ts';
import type { Connections } from '../connections/index.ts';
import type { Absence, Principal, Projects } from '../projects/index.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import { connectorOf, type Catalog } from '../providers/index.ts';
import { describedOnce } from './asking.ts';
import { changeInstallation } from './change.ts';
import { applyMasks } from './config/masks.ts';
import { patchObject } from './config/object-patch.ts';
import { unaskedMappings } from './config/unasked-mappings.ts';
import { namedConnection } from './connection.ts';
import { createInstallation } from './create.ts';
import { describeForIntegration, describeForProvider, type ObjectQuestion } from './metadata/describe.ts';
import { installed } from './impact-store.ts';
import { hydrateRevision } from './metadata/hydrate.ts';
import type { HydratedRevision, ObjectMetadata } from './metadata/schema.ts';
import { presentConfig, presentInstallation } from './present.ts';
import { proposedTarget, type Proposed } from './proposed.ts';
import { manifestFor } from './manifest-for.ts';
import { removeInstallation } from './remove.ts';
import {
  enter,
  notInstalled,
  installationOfProject,
  ownInstallation,
  type IntegrationPlace,
  type InstallationsDeps,
  type Scope,
} from './scope.ts';
import type {
  Config,
  CreateInstallationRequest,
  Installation,
  PatchObjectRequest,
  Proposal,
  UpdateInstallationRequest,
} from './schema.ts';
import {
  areInstalled,
  deleteInstallationsOf,
  installationIdsOf,
  listConfigs,
  type InstallationRow,
} from './store.ts';
import { listInstallations } from './list-store.ts';
import { mappedFieldsOf, type DeliveredObject } from './mapped-fields.ts';
import { installedReads, type InstalledReads } from './reads.ts';
import { toldOf } from './told-store.ts';
import { findAbsences } from './unknown-names.ts';
import { createTargets, targetAgeMs, type Target, type TargetSelector } from './targets.ts';

/** Which installations, and how many of them at a time. */
export interface ListQuery extends OptionalPageQuery {
  groupRef?: string;
  healthStatus?: Installation['healthStatus'];
}

export interface SaveOptions {
  /** Skips the questions to the provider before saving. */
  skipSampling: boolean;
}

/** Installations. Every method throws problems; a caller sees its own group's only. */
export interface Installations {
  create(
    principal: Principal,
    place: IntegrationPlace,
    request: CreateInstallationRequest,
    options: SaveOptions,
  ): Promise<Installation>;
  get(principal: Principal, place: IntegrationPlace, id: string): Promise<Installation>;
  /** By its id alone. */
  getOfProject(principal: Principal, projectIdOrName: string, id: string): Promise<Installation>;
  /** What it was configured to, the newest first: the first is in force. */
  configs(
    principal: Principal,
    place: { projectIdOrName: string; installationId: string },
    query: { pageSize: number; pageToken?: string },
  ): Promise<Page<Config>>;
  /** Of one integration. Newest first. */
  list(principal: Principal, place: IntegrationPlace, query: ListQuery): Promise<Listed<Installation>>;
  /** Of all integrations of the project. */
  listAll(principal: Principal, projectIdOrName: string, query: ListQuery): Promise<Listed<Installation>>;
  update(
    principal: Principal,
    place: IntegrationPlace & { installationId: string },
    request: UpdateInstallationRequest,
    options: SaveOptions & { ifConfigId?: string },
  ): Promise<Installation>;
  patchObject(
    principal: Principal,
    place: IntegrationPlace & { objectName: string },
    request: PatchObjectRequest,
    options: SaveOptions,
  ): Promise<Installation>;
  delete(principal: Principal, place: IntegrationPlace, id: string): Promise<void>;
  describeForIntegration(
    principal: Principal,
    place: IntegrationPlace,
    question: ObjectQuestion,
  ): Promise<ObjectMetadata>;
  describeForProvider(
    principal: Principal,
    place: { projectIdOrName: string; provider: string },
    question: ObjectQuestion,
  ): Promise<ObjectMetadata>;
  hydrate(
    principal: Principal,
    place: IntegrationPlace & { revisionId: string },
    connectionId: string,
  ): Promise<HydratedRevision>;
  /** An installation as it would be with a config that nobody saved. */
  propose(principal: Principal, place: IntegrationPlace, proposal: Proposal): Promise<Proposed>;
  /** What is read for installations of the project, by their ids. That they may be seen is the caller's to check. */
  readsOf(projectId: string, ids: readonly string[]): Promise<Map<string, InstalledReads>>;
  findTarget(projectId: string, selector: TargetSelector): Promise<Target | undefined>;
  /** The members of `mappedFields` that records of the object, by its delivered name, may have now. */
  readonly mappedFields: (of: DeliveredObject) => Promise<readonly string[]>;
  /** Reads the current state; asked before anything is refused. */
  refreshTarget(projectId: string, selector: TargetSelector): Promise<Target | undefined>;
  /** Without waiting; undefined means: ask {@link findTarget}. */
  peekTarget(projectId: string, selector: TargetSelector): Target | undefined;
  close(): void;
}

/** The rooms below that it works with. */
export interface LowerRooms {
  projects: Projects;
  connections: Connections;
  catalog: Catalog;
}

export function createInstallations(ground: Ground, below: LowerRooms): Installations {
  const targets = createTargets(ground.database);
  const deps: InstallationsDeps = { ground, ...below, targets };
  deps.projects.beforeIntegrationDelete(async (tx, projectId, integrationId) => {
    for (const id of await installationIdsOf(tx, projectId, integrationId)) {
      const told = await toldOf(tx, ground.publicUrl, { projectId, id, type: 'installation.deleted' });
      await record(tx, { projectId, told });
    }
    await deleteInstallationsOf(tx, projectId, integrationId);
  });
  deps.projects.askInstalledBy(installed);
  deps.projects.askForAbsencesBy((projectId, content) => absencesIn(deps.connections, projectId, content));
  // After the answer no node remembers the earlier declaration.
  deps.projects.afterRevision(async (projectId, integrationIds) => {
    if (await areInstalled(ground.database, projectId, integrationIds)) await setTimeout(targetAgeMs);
  });

  return {
    ...savingOf(deps),
    ...readingOf(deps),
    delete: (principal, place, id) => removeInstallation(deps, principal, place, id),
    describeForIntegration: (principal, place, question) =>
      describeForIntegration(deps, principal, place, question),
    describeForProvider: (principal, place, question) =>
      describeForProvider(deps, principal, place, question),
    hydrate: (principal, place, connectionId) => hydrateRevision(deps, principal, place, connectionId),
    propose: (principal, place, proposal) => proposedTarget(deps, principal, place, proposal),
    readsOf: (projectId, ids) => installedReads(ground.database, projectId, ids),
    findTarget: (projectId, selector) => targets.find(projectId, selector),
    mappedFields: mappedFieldsOf(targets),
    refreshTarget: (projectId, selector) => targets.refresh(projectId, selector),
    peekTarget: (projectId, selector) => targets.peek(projectId, selector),
    close: () => targets.close(),
  };
}

type Saving = Pick<Installations, 'create' | 'update' | 'patchObject'>;

function savingOf(deps: InstallationsDeps): Saving {
  return {
    create: async (principal, place, request, options) => {
      const { row, warnings } = await createInstallation(deps, principal, place, request, options);
      return presentSaved(deps, row, warnings);
    },
    update: async (principal, place, request, options) => {
      const scope = await enter(deps, principal, place);
      const find = () => ownInstallation(deps, scope, place.installationId);
      const { ifConfigId } = options;
      const plan = (row: InstallationRow) => {
        if (ifConfigId === undefined || row.config_id === ifConfigId) return applyMasks(row.content, request);
        throw problem('config-changed', { detail: `The config is ${row.config_id} now, not ${ifConfigId}.` });
      };
      return presentChanged(deps, scope, await changeInstallation(deps, scope, find, plan, options));
    },
    patchObject: async (principal, place, request, options) => {
      const scope = await enter(deps, principal, place);
      const find = () => installationOf(deps, scope, request);
      const plan = (row: InstallationRow) => ({
        content: patchObject(row.content, place.objectName, request),
        connectionId: undefined,
        createdBy: undefined,
      });
      return presentChanged(deps, scope, await changeInstallation(deps, scope, find, plan, options));
    },
  };
}

type Reading = Pick<Installations, 'get' | 'getOfProject' | 'configs' | 'list' | 'listAll'>;

function readingOf(deps: InstallationsDeps): Reading {
  return {
    get: async (principal, place, id) =>
      presentOne(deps, await ownInstallation(deps, await enter(deps, principal, place), id)),
    getOfProject: async (principal, projectIdOrName, id) =>
      presentOne(deps, await installationOfProject(deps, principal, projectIdOrName, id)),
    configs: async (principal, { projectIdOrName, installationId }, { pageSize, pageToken }) => {
      const slice = { beforeId: beforeIdOf(pageToken), limit: pageSize + 1 };
      const row = await installationOfProject(deps, principal, projectIdOrName, installationId);
      const page = pageOf(await listConfigs(deps.ground.database, row, slice), pageSize, ({ id }) => id);
      return { ...page, results: page.results.map(presentConfig) };
    },
    list: async (principal, place, query) => {
      const { reach, integration } = await enter(deps, principal, place);
      return presentMany(deps, reach, integration.id, query);
    },
    listAll: (principal, projectIdOrName, query) =>
      presentMany(deps, deps.projects.confine(principal, projectIdOrName), undefined, query),
  };
}

const askForMs = 5_000;
/** Asks one of the newest connections that works. */
const mostLookedAt = 20;

/** What the manifest names and the provider lacks; nothing where there is no connection. */
async function absencesIn(
  connections: Connections,
  projectId: string,
  content: ManifestIntegration,
): Promise<Absence[]> {
  const { provider } = content;
  const connector = connectorOf(provider);
  if (!connector) return [];
  const newest = await connections.list(wholeProject(projectId), { provider }, { limit: mostLookedAt });
  const asked = newest.find(({ status }) => status !== 'bad_credentials');
  if (!asked) return newest.length === 0 ? [] : [uncheckedAt(provider, ', since no connection to it works')];
  const answer = connections
    .client(projectId, asked.id)
    .then((client) => findAbsences(connector, client, describedOnce(connector, client), content))
    .catch(() => [uncheckedAt(provider)]);
  return Promise.race([answer, setTimeout(askForMs, [uncheckedAt(provider)], { ref: false })]);
}

const uncheckedAt = (provider: string, why = ' now'): Absence => ({
  rule: 'names-unchecked',
  path: [],
  message: `${provider} could not be asked${why}: whether it has the objects and fields that are named was not checked`,
});

/** The installation that a JSON Patch is for: by its id, or by the group. Throws invalid-request and installation-not-found. */
async function installationOf(
  deps: InstallationsDeps,
  scope: Scope,
  { groupRef, installationId }: PatchObjectRequest,
): Promise<InstallationRow> {
  if ((groupRef === undefined) === (installationId === undefined)) {
    const detail = 'give either groupRef or installationId';
    throw refuse([{ in: 'body', name: groupRef === undefined ? 'groupRef' : 'installationId', detail }]);
  }
  if (groupRef === undefined) return ownInstallation(deps, scope, installationId ?? '');
  const { reach, integration } = scope;
  const filter = { integrationId: integration.id, groupRef };
  const [row] = await listInstallations(deps.ground.database, reach, filter);
  if (row) return row;
  throw notInstalled(integration.name, groupRef);
}

async function presentOne({ connections }: InstallationsDeps, row: InstallationRow): Promise<Installation> {
  const connection = await namedConnection(connections, wholeProject(row.project_id), row.connection_id);
  return presentInstallation(row, connection && connections.present(connection));
}

function presentChanged(
  deps: InstallationsDeps,
  { integration: { latestRevision } }: Scope,
  { row, warnings }: Awaited<ReturnType<typeof changeInstallation>>,
): Promise<Installation> {
  const unasked = unaskedMappings(row.content, manifestFor(latestRevision, row));
  return presentSaved(deps, row, [...unasked, ...warnings]);
}

/** With what does not keep the config from being saved, and should be mended. */
async function presentSaved(
  deps: InstallationsDeps,
  row: InstallationRow,
  warnings: readonly { message: string }[] = [],
): Promise<Installation> {
  const shown = await presentOne(deps, row);
  const all = [...warnings, ...(await lostDestinations(deps, row))];
  return all.length > 0 ? { ...shown, warnings: all } : shown;
}

/** What is read for a destination that cannot be delivered to waits, as a deploy says of those of the manifest. */
async function lostDestinations(
  { projects }: InstallationsDeps,
  { project_id: projectId, content }: InstallationRow,
): Promise<{ message: string }[]> {
  const named = Object.entries(content.read?.objects ?? {}).flatMap(([key, { destination, disabled }]) =>
    destination === undefined || disabled === true ? [] : [{ key, destination }],
  );
  const faults = await Promise.all(
    named.map(async ({ key, destination }) => ({
      at: `config.content.read.objects.${key}.destination`,
      fault: await projects.destinationFault(projectId, destination),
    })),
  );
  return faults.flatMap(({ at, fault }) => (fault === undefined ? [] : [{ message: `${at}: ${fault}` }]));
}

function presentMany(
  { ground, connections }: InstallationsDeps,
  reach: Reach,
  integrationId: string | undefined,
  { groupRef, healthStatus, ...page }: ListQuery,
): Promise<Listed<Installation>> {
  const unhealthy = healthStatus && healthStatus === 'unhealthy';
  const filter = { integrationId, groupRef, unhealthy };
  return listOrPageOfDocuments(
    page,
    (slice) => listInstallations(ground.database, reach, filter, slice),
    async (rows) => {
      const ids = [...new Set(rows.map((row) => row.connection_id))];
      const found = ids.length === 0 ? [] : await connections.list(reach, { ids });
      const byId = new Map(found.map((connection) => [connection.id, connections.present(connection)]));
      return rows.map((row) => presentInstallation(row, byId.get(row.connection_id)));
    },
  );
}
