import { record } from '../../events/index.ts';
import type { Database, Queryable } from '../../kit/db/database.ts';
import { isId, newId } from '../../kit/ids.ts';
import { problem } from '../../kit/problem.ts';
import { renderPath, type Finding, type Path } from '../manifest/finding.ts';
import { refuseContent, refuseManifest } from '../manifest/refusal.ts';
import type { ManifestCatalog } from '../manifest/rules/context.ts';
import { createManifestReader, type ManifestReader, type ReadManifest } from '../manifest/reader.ts';
import { findInIntegration } from '../manifest/validate.ts';
import type { DeployPreview, Manifest, ManifestIntegration, ManifestIssue } from '../schema.ts';
import { planDeploy, type DeployPlan } from './deploy-plan.ts';
import * as store from './store.ts';
import type { Integration } from './store.ts';

/** Runs inside the transaction that deletes an integration, before its rows go. */
export type IntegrationDeleteHook = (
  tx: Queryable,
  projectId: string,
  integrationId: string,
) => Promise<void>;

export interface DeployOptions {
  /** Whether reads of objects that the deploy removes stop; kept with the revision. */
  destructive: boolean;
  /** Only this integration of the manifest, by its name. */
  only?: string;
}

export interface Integrations {
  list(projectId: string): Promise<Integration[]>;
  get(projectId: string, idOrName: string): Promise<Integration>;
  /** Makes one integration from JSON. Throws already-exists. */
  create(projectId: string, specVersion: string, content: ManifestIntegration): Promise<void>;
  /** Applies a manifest in one transaction. Throws manifest-invalid with the lines. */
  deploy(
    projectId: string,
    text: string,
    options: DeployOptions,
  ): Promise<{ integrations: Integration[]; warnings: ManifestIssue[] }>;
  /** What {@link deploy} would do. Writes nothing. */
  preview(projectId: string, text: string): Promise<DeployPreview>;
  delete(projectId: string, idOrName: string): Promise<void>;
  beforeDelete(hook: IntegrationDeleteHook): void;
  close(): Promise<void>;
}

const contentPath: Path = ['latestRevision', 'content'];

export function createIntegrations(database: Database, catalog: ManifestCatalog): Integrations {
  const hooks: IntegrationDeleteHook[] = [];
  const reader = createManifestReader(catalog);
  const get = (projectId: string, idOrName: string) => getIntegration(database, projectId, idOrName);

  return {
    get,
    list: (projectId) => store.listIntegrations(database, projectId),
    async create(projectId, specVersion, content) {
      const errors = findInIntegration(content, contentPath, catalog).filter(
        ({ severity }) => severity === 'error',
      );
      if (errors.length > 0) throw refuseContent(errors);
      const revision = { id: newId(), specVersion, content, destructive: false };
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
    async deploy(projectId, text, { destructive, only }) {
      const { manifest, check } = await readManifest(text, reader);
      return database.transaction(async (tx) => {
        await store.lockDeploys(tx, projectId);
        const plan = planOrRefuse(manifest, await store.listIntegrations(tx, projectId), check, only);
        await apply(tx, projectId, plan, destructive);
        await record(tx, { projectId, action: 'deploy.done', targetId: projectId, details: summaryOf(plan) });
        const deployed = new Set(plan.integrations.map(({ shown }) => shown.name));
        const live = await store.listIntegrations(tx, projectId);
        return { integrations: live.filter(({ name }) => deployed.has(name)), warnings: check.warnings };
      });
    },
    async preview(projectId, text) {
      const { manifest, check } = await readManifest(text, reader);
      const plan = planOrRefuse(manifest, await store.listIntegrations(database, projectId), check);
      const integrations = plan.integrations.map(({ shown }) => shown);
      return { dryRun: true, integrations, untouched: plan.untouched, warnings: check.warnings };
    },
    async delete(projectId, idOrName) {
      const { id, name } = await get(projectId, idOrName);
      await database.transaction(async (tx) => {
        await store.lockDeploys(tx, projectId);
        for (const hook of hooks) await hook(tx, projectId, id);
        await store.deleteIntegration(tx, projectId, id);
        await record(tx, { projectId, action: 'integration.deleted', targetId: id, details: { name } });
      });
    },
    beforeDelete: (hook) => void hooks.push(hook),
    close: () => reader.close(),
  };
}

async function getIntegration(database: Database, projectId: string, idOrName: string): Promise<Integration> {
  const found = isId(idOrName)
    ? await store.findIntegrationById(database, projectId, idOrName)
    : await store.findIntegrationByName(database, projectId, idOrName);
  if (found) return found;
  throw problem('not-found', {
    detail: `There is no integration ${JSON.stringify(idOrName.slice(0, 64))} in this project.`,
  });
}

async function readManifest(
  text: string,
  reader: ManifestReader,
): Promise<{ manifest: Manifest; check: ReadManifest }> {
  const check = await reader.read(text);
  if (!check.manifest) throw refuseManifest(check.errors);
  return { manifest: check.manifest, check };
}

function planOrRefuse(
  manifest: Manifest,
  live: readonly Integration[],
  check: ReadManifest,
  only?: string,
): DeployPlan {
  const plan = planDeploy(manifest, live, only);
  if ('refusals' in plan) throw refuseManifest(plan.refusals.map((finding) => placed(finding, check)));
  if (plan.integrations.length > 0) return plan;
  throw problem('manifest-invalid', { detail: `The manifest does not hold the integration ${only}.` });
}

/** What a plan refuses is the provider of an integration. */
function placed({ path, ...finding }: Finding, { providerPlaces }: ReadManifest): ManifestIssue {
  const place = providerPlaces[Number(path[1])] ?? { line: 1, column: 1 };
  return { ...finding, path: renderPath(path), ...place };
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
    const revision = { id: newId(), specVersion, content, destructive };
    if (step.change === 'created') {
      const { name, provider } = content;
      const made = { id: newId(), name, provider };
      await store.insertIntegration(tx, projectId, made, revision);
      const details = { name, provider, revisionId: revision.id };
      await record(tx, { projectId, action: 'integration.created', targetId: made.id, details });
    } else {
      const targetId = step.live.id;
      await store.reviseIntegration(tx, projectId, targetId, revision);
      const details = { name: content.name, revisionId: revision.id, destructive };
      await record(tx, { projectId, action: 'integration.revised', targetId, details });
    }
  }
}
