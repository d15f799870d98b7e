import type { Static } from 'typebox';
import { record } from '../../events/index.ts';
import type { Database, Queryable } from '../../kit/db/database.ts';
import { isId, newId } from '../../kit/ids.ts';
import {
  beforeIdOf,
  isPageAsked,
  madeAt,
  pageOf,
  placeAfter,
  wholeList,
  type Listed,
} from '../../kit/paging.ts';
import { usualSize, type OptionalPageQuery, type Page } from '../../kit/paging-schema.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import { renderPath, type Finding, type Path } from '../manifest/finding.ts';
import { silence } from '../manifest/ignore.ts';
import { refuseContent, refuseManifest } from '../manifest/refusal.ts';
import type { ManifestCatalog } from '../manifest/rules/context.ts';
import { createManifestReader, type ManifestReader, type ReadManifest } from '../manifest/reader.ts';
import { findInIntegration } from '../manifest/validate.ts';
import type {
  DeployPreview,
  Integration as IntegrationShape,
  Manifest,
  ManifestIntegration,
  ManifestIssue,
} from '../schema.ts';
import { findAbsences, type AbsencesHook } from './absences.ts';
import { planDeploy, type DeployPlan, type DeployTerms } from './deploy-plan.ts';
import { findImpacts, showImpacts, type Installed } from './installed.ts';
import { findLostDestinations, type DestinationsHook } from './lost-destinations.ts';
import { presentIntegration } from './present.ts';
import * as store from './store.ts';
import type { Integration } from './store.ts';

/** Runs inside the transaction that deletes an integration, before its rows go. */
export type IntegrationDeleteHook = (
  tx: Queryable,
  projectId: string,
  integrationId: string,
) => Promise<void>;

/** Runs after the commit of a deploy that revised these integrations, before it is answered. */
export type RevisionHook = (projectId: string, integrationIds: readonly string[]) => Promise<void>;

/** An integration with the warnings of its part of the manifest; the first has those of the whole, too. */
export interface Deployed {
  integration: Integration;
  warnings: ManifestIssue[];
}

export interface DeployOptions {
  /** Whether what the manifest no longer holds ends for the installations that have it; kept with the revision. */
  destructive: boolean;
  /** Only this integration of the manifest, by its name. */
  only?: string;
}

export interface Integrations {
  /** By name where they come whole, else in the order in which they were made. */
  list(projectId: string, query: OptionalPageQuery): Promise<Listed<Static<typeof IntegrationShape>>>;
  get(projectId: string, idOrName: string): Promise<Integration>;
  /** What an integration was, deploy by deploy, the newest first. */
  revisions(projectId: string, idOrName: string, query: PageQuery): Promise<Page<PastRevision>>;
  /** Makes one integration from JSON. Throws already-exists. */
  create(projectId: string, specVersion: string, content: ManifestIntegration): Promise<void>;
  /** Applies a manifest in one transaction. Throws manifest-invalid with the lines. */
  deploy(
    projectId: string,
    text: string,
    options: DeployOptions,
  ): Promise<{ integrations: Deployed[]; warnings: ManifestIssue[] }>;
  /** What {@link deploy} would do. Writes nothing. */
  preview(projectId: string, text: string, options: DeployOptions): Promise<DeployPreview>;
  delete(projectId: string, idOrName: string): Promise<void>;
  beforeDelete(hook: IntegrationDeleteHook): void;
  /** Registers what a deploy waits for before it answers. */
  afterRevision(hook: RevisionHook): void;
  /** Registers who asks a provider what of a manifest it lacks. */
  askForAbsencesBy(hook: AbsencesHook): void;
  /** Registers who knows the destinations that a manifest names. */
  askForDestinationsBy(hook: DestinationsHook): void;
  destinationFault: DestinationsHook;
  /** Registers who knows the installations. */
  askInstalledBy(installed: Installed): void;
  close(): Promise<void>;
}

interface PageQuery {
  pageSize: number;
  pageToken?: string;
}
type PastRevision = Omit<store.Revision, 'retained'>;

const contentPath: Path = ['latestRevision', 'content'];

export function createIntegrations(database: Database, catalog: ManifestCatalog): Integrations {
  const hooks: IntegrationDeleteHook[] = [];
  const deps: DeployDeps = {
    database,
    reader: createManifestReader(catalog),
    afterRevision: [],
    absences: async () => [],
    destinationFault: async () => undefined,
    installed: { count: async () => 0, answer: async () => [], missingScopes: async () => [] },
  };
  const get = (projectId: string, idOrName: string) => getIntegration(database, projectId, idOrName);

  return {
    get,
    list: (projectId, query) => listIntegrations(database, projectId, query),
    revisions: (projectId, idOrName, query) => listRevisions(database, projectId, idOrName, query),
    async create(projectId, specVersion, content) {
      const errors = findInIntegration(content, contentPath, catalog).filter(
        ({ severity }) => severity === 'error',
      );
      if (errors.length > 0) throw refuseContent(errors);
      const revision = { id: newId(), specVersion, content, destructive: false, retained: [] };
      const { name, provider } = content;
      await database.transaction(async (tx) => {
        await store.lockDeploys(tx, projectId);
        if (await store.findIntegrationByName(tx, projectId, name)) {
          throw problem('already-exists', { detail: `The integration ${name} exists already.` });
        }
        const made = { id: newId(), name, provider };
        await store.insertIntegration(tx, projectId, made, revision);
        const details = { name, provider, revisionId: revision.id };
        await record(tx, { projectId, action: 'integration.created', targetId: made.id, details });
      });
    },
    deploy: (projectId, text, options) => deploy(deps, projectId, text, options),
    preview: (projectId, text, options) => preview(deps, projectId, text, options),
    async delete(projectId, idOrName) {
      const { id, name } = await get(projectId, idOrName);
      await database.transaction(async (tx) => {
        await store.lockDeploys(tx, projectId);
        if (!(await store.holdIntegration(tx, projectId, id))) throw noIntegration(idOrName);
        for (const hook of hooks) await hook(tx, projectId, id);
        await store.deleteIntegration(tx, projectId, id);
        await record(tx, { projectId, action: 'integration.deleted', targetId: id, details: { name } });
      });
    },
    beforeDelete: (hook) => void hooks.push(hook),
    afterRevision: (hook) => void deps.afterRevision.push(hook),
    askForAbsencesBy: (hook) => {
      deps.absences = hook;
    },
    askForDestinationsBy: (hook) => {
      deps.destinationFault = hook;
    },
    destinationFault: (projectId, name) => deps.destinationFault(projectId, name),
    askInstalledBy: (installed) => {
      deps.installed = installed;
    },
    close: () => deps.reader.close(),
  };
}

/** What a deploy works with; other rooms put their hooks in. */
interface DeployDeps {
  database: Database;
  reader: ManifestReader;
  afterRevision: RevisionHook[];
  absences: AbsencesHook;
  destinationFault: DestinationsHook;
  installed: Installed;
}

async function deploy(
  deps: DeployDeps,
  projectId: string,
  text: string,
  { destructive, only }: DeployOptions,
): Promise<{ integrations: Deployed[]; warnings: ManifestIssue[] }> {
  const { manifest, check } = await readManifest(deps.reader, projectId, text);
  const unknown = await findStrange(deps, projectId, manifest, only);
  const { revised, ...deployed } = await deps.database.transaction(async (tx) => {
    await store.lockDeploys(tx, projectId);
    const { plan, terms } = await planHeld(tx, projectId, { manifest, check, destructive, only });
    const impacts = await findImpacts({ db: tx, projectId, installed: deps.installed }, plan, terms);
    await apply(tx, projectId, plan, destructive);
    await record(tx, { projectId, action: 'deploy.done', targetId: projectId, details: summaryOf(plan) });
    const warnings = warningsOf(check, [...impacts, ...unknown]);
    const live = await store.listIntegrations(tx, projectId);
    return {
      integrations: deployedOf(live, plan, manifest, warnings),
      warnings,
      revised: revisedBy(plan),
    };
  });
  if (revised.length > 0) await Promise.all(deps.afterRevision.map(async (hook) => hook(projectId, revised)));
  return deployed;
}

async function preview(
  deps: DeployDeps,
  projectId: string,
  text: string,
  { destructive, only }: DeployOptions,
): Promise<DeployPreview> {
  const { database: db, installed } = deps;
  const { manifest, check } = await readManifest(deps.reader, projectId, text);
  const terms = { destructive, only, at: await store.clockTime(db) };
  const plan = planOrRefuse(manifest, await store.listIntegrations(db, projectId), check, terms);
  const { integrations, warnings: impacts } = await showImpacts({ db, projectId, installed }, plan, terms);
  const unknown = await findStrange(deps, projectId, manifest, only);
  const warnings = warningsOf(check, [...impacts, ...unknown]);
  return { dryRun: true, integrations, untouched: plan.untouched, warnings };
}

function warningsOf(check: ReadManifest, findings: readonly Finding[]): ManifestIssue[] {
  const found = findings.map((finding) => placed(finding, check));
  return [...check.warnings, ...silence(found, check.ignored)];
}

async function getIntegration(database: Database, projectId: string, idOrName: string): Promise<Integration> {
  const found = isId(idOrName)
    ? await store.findIntegrationById(database, projectId, idOrName)
    : await store.findIntegrationByName(database, projectId, idOrName);
  if (found) return found;
  throw noIntegration(idOrName);
}

function noIntegration(idOrName: string): Problem {
  return problem('not-found', {
    detail: `There is no integration ${JSON.stringify(idOrName.slice(0, 64))} in this project.`,
  });
}

async function listIntegrations(
  database: Database,
  projectId: string,
  query: OptionalPageQuery,
): Promise<Listed<Static<typeof IntegrationShape>>> {
  const present = (rows: Integration[]) => rows.map(presentIntegration);
  if (!isPageAsked(query))
    return wholeList<store.ListedIntegration, ReturnType<typeof presentIntegration>>(
      (last) => store.integrationsBehind(database, projectId, last?.name ?? ''),
      present,
    );
  const { pageSize = usualSize, pageToken } = query;
  const behind = { ...placeAfter(pageToken), limit: pageSize + 1 };
  const rows = await store.integrationsMadeAfter(database, projectId, behind);
  const { results, pagination } = pageOf(rows, pageSize, (row) =>
    madeAt({ createTime: row.createdAt.toISOString(), id: row.id }),
  );
  return { results: present(results), pagination };
}

async function listRevisions(
  database: Database,
  projectId: string,
  idOrName: string,
  { pageSize, pageToken }: PageQuery,
): Promise<Page<PastRevision>> {
  const slice = { beforeId: beforeIdOf(pageToken), limit: pageSize + 1 };
  const { id } = await getIntegration(database, projectId, idOrName);
  const rows = await store.listRevisions(database, projectId, id, slice);
  return pageOf(rows, pageSize, (revision) => revision.id);
}

async function readManifest(
  reader: ManifestReader,
  projectId: string,
  text: string,
): Promise<{ manifest: Manifest; check: ReadManifest }> {
  const check = await reader.read(projectId, text);
  if (!check.manifest) throw refuseManifest(check.errors);
  return { manifest: check.manifest, check };
}

function planOrRefuse(
  manifest: Manifest,
  live: readonly Integration[],
  check: ReadManifest,
  terms: DeployTerms,
): DeployPlan {
  const plan = planDeploy(manifest, live, terms);
  if ('refusals' in plan) throw refuseManifest(plan.refusals.map((finding) => placed(finding, check)));
  if (plan.integrations.length > 0) return plan;
  throw problem('manifest-invalid', { detail: `The manifest does not hold the integration ${terms.only}.` });
}

/**
 * The plan of a deploy, with what it revises held: who installs that meanwhile was there at the time of the deploy, and is counted, or
 * waits for it and follows what it deploys. What stays the same is held by nobody.
 */
async function planHeld(
  tx: Queryable,
  projectId: string,
  { manifest, check, ...options }: { manifest: Manifest; check: ReadManifest } & DeployOptions,
): Promise<{ plan: DeployPlan; terms: DeployTerms }> {
  const live = await store.listIntegrations(tx, projectId);
  const planNow = async (): Promise<{ plan: DeployPlan; terms: DeployTerms }> => {
    const terms = { ...options, at: await store.clockTime(tx) };
    return { plan: planOrRefuse(manifest, live, check, terms), terms };
  };
  const { plan } = await planNow();
  await store.holdIntegrationsToRevise(tx, projectId, revisedBy(plan));
  return planNow();
}

function revisedBy({ integrations }: DeployPlan): string[] {
  return integrations.flatMap((step) => (step.change === 'updated' ? [step.live.id] : []));
}

/** Warnings for what others say is not there. */
async function findStrange(
  deps: DeployDeps,
  projectId: string,
  manifest: Manifest,
  only: string | undefined,
): Promise<Finding[]> {
  const found = await Promise.all([
    findAbsences(projectId, manifest, { ask: deps.absences, only }),
    findLostDestinations(projectId, manifest, { ask: deps.destinationFault, only }),
  ]);
  return found.flat();
}

/** What a plan finds stands where it is named, or where its integration names the provider. */
function placed({ path, ...finding }: Finding, { places }: ReadManifest): ManifestIssue {
  const place = places[renderPath(path)] ??
    places[renderPath([...path.slice(0, 2), 'provider'])] ?? { line: 1, column: 1 };
  return { ...finding, path: renderPath(path), ...place };
}

function deployedOf(
  live: readonly Integration[],
  plan: DeployPlan,
  { integrations }: Manifest,
  warnings: readonly ManifestIssue[],
): Deployed[] {
  const names = new Set(plan.integrations.map(({ shown }) => shown.name));
  const deployed = live.filter(({ name }) => names.has(name));
  const nameOf = ({ path }: ManifestIssue): string | undefined =>
    integrations[Number(/^integrations\[(\d+)\]/.exec(path)?.[1])]?.name;
  return deployed.map((integration, index) => ({
    integration,
    warnings: warnings.filter((one) => {
      const name = nameOf(one);
      return name === integration.name || (index === 0 && name === undefined);
    }),
  }));
}

/** What a deploy did, by integration; those that stayed as they were are not named. */
function summaryOf({ integrations }: DeployPlan): Record<string, unknown> {
  const changed = integrations.filter(({ change }) => change !== 'unchanged');
  return Object.fromEntries(changed.map(({ change, shown }) => [shown.name, change]));
}

async function apply(
  tx: Queryable,
  projectId: string,
  plan: DeployPlan,
  destructive: boolean,
): Promise<void> {
  const { specVersion } = plan;
  for (const step of plan.integrations) {
    if (step.change === 'unchanged') continue;
    const { content } = step;
    const retained = step.change === 'updated' ? step.retained : [];
    const revision = { id: newId(), specVersion, content, destructive, retained };
    if (step.change === 'created') {
      const { name, provider } = content;
      const made = { id: newId(), name, provider };
      await store.insertIntegration(tx, projectId, made, revision);
      const details = { name, provider, revisionId: revision.id };
      await record(tx, { projectId, action: 'integration.created', targetId: made.id, details });
    } else {
      const targetId = step.live.id;
      await store.reviseIntegration(tx, projectId, targetId, revision);
      const revisionId = { before: step.live.latestRevision.id, after: revision.id };
      const details = { name: content.name, revisionId, destructive };
      await record(tx, { projectId, action: 'integration.revised', targetId, details });
    }
  }
}
