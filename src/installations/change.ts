import { beforeAndAfter, record } from '../events/index.ts';
import { compileCheck } from '../kit/http/validation.ts';
import { newId } from '../kit/ids.ts';
import { problem, refuse } from '../kit/problem.ts';
import { abilitiesOf } from '../providers/index.ts';
import { checkContent, createdByIssues, createdByOf } from './config/check.ts';
import { destinationIssues } from './config/destination-issues.ts';
import { contentPath } from './config/issue.ts';
import type { MaskedChange } from './config/masks.ts';
import { ConfigContent } from './config/schema.ts';
import { chooseConnection, requireUsable } from './connection.ts';
import { forgetTarget, type InstallationsDeps, type Scope } from './scope.ts';
import { manifestFor } from './manifest-for.ts';
import { followConfig, heldConnection, readInstallation, type InstallationRow } from './store.ts';
import { toldOf } from './told-store.ts';
import { verifyAtProvider } from './verify.ts';

const attempts = 3;
const shapeIssues = compileCheck(ConfigContent);

/**
 * Puts a new config in force: the whole of it is checked again, and what it newly names at the provider is looked up.
 * A change that met another one is planned again on what the other left. Throws conflict when that happens too often.
 */
export async function changeInstallation(
  deps: InstallationsDeps,
  scope: Scope,
  find: () => Promise<InstallationRow>,
  plan: (row: InstallationRow) => MaskedChange,
  options: { skipSampling: boolean },
): Promise<{ row: InstallationRow; warnings: { message: string }[] }> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const before = await find();
    const next = await prepare(deps, scope, before, plan(before), options);
    const row = await save(deps, scope, before, next);
    if (row) {
      forgetTarget(deps, scope, row);
      return { row, warnings: next.warnings };
    }
  }
  throw problem('conflict', { detail: 'Other changes of the installation came first, several times.' });
}

interface Prepared {
  content: ConfigContent;
  connectionId: string;
  createdBy: string;
  warnings: { message: string }[];
}

async function prepare(
  deps: InstallationsDeps,
  { principal, projectId, reach, integration }: Scope,
  before: InstallationRow,
  change: MaskedChange,
  { skipSampling }: { skipSampling: boolean },
): Promise<Prepared> {
  const { provider } = integration;
  const manifest = manifestFor(integration.latestRevision, before);
  const content = checkedShape(change.content);
  const issues = [
    ...createdByIssues(change.createdBy, principal),
    ...destinationIssues(content, { manifest, previous: before.content }, principal),
    ...checkContent(content, {
      provider,
      manifest,
      abilities: abilitiesOf(provider),
      previous: before.content,
    }),
  ];
  if (issues.length > 0) throw refuse(issues, 'config-invalid');
  const isSwapped = change.connectionId !== undefined && change.connectionId !== before.connection_id;
  const connectionId = isSwapped
    ? await chooseConnection(deps, { reach, groupRef: before.group_ref, provider }, change.connectionId)
    : before.connection_id;
  const previous = isSwapped ? undefined : before.content;
  const asked = { projectId, provider, connectionId, content, manifest, previous };
  const warnings = skipSampling ? [] : await verifyAtProvider(deps.connections, asked);
  return { content, connectionId, createdBy: change.createdBy ?? createdByOf(principal), warnings };
}

function checkedShape(content: unknown): ConfigContent {
  const { issues, more } = shapeIssues(content, 'body', contentPath);
  if (issues.length > 0) throw refuse(issues, 'invalid-request', more);
  return content as ConfigContent;
}

async function save(
  { ground }: InstallationsDeps,
  { projectId, reach, integration }: Scope,
  before: InstallationRow,
  { content, connectionId, createdBy }: Prepared,
): Promise<InstallationRow | undefined> {
  const config = { id: newId(), revisionId: integration.latestRevision.id, createdBy, content };
  return ground.database.transaction(async (tx) => {
    const isSwapped = connectionId !== before.connection_id;
    if (isSwapped) {
      const held = await heldConnection(tx, projectId, connectionId);
      requireUsable(held, { id: connectionId, groupRef: before.group_ref });
    }
    const isFirst = await followConfig(tx, before, config, connectionId);
    if (!isFirst) return undefined;
    const details = {
      groupRef: before.group_ref,
      ...beforeAndAfter(
        { configId: before.config_id, connectionId: before.connection_id },
        { configId: config.id, connectionId },
      ),
    };
    const told = await toldOf(tx, ground.publicUrl, {
      projectId,
      id: before.id,
      type: 'installation.updated',
      lastConfig: before.content,
    });
    await record(tx, { projectId, action: 'installation.updated', targetId: before.id, details, told });
    return readInstallation(tx, reach, before.id);
  });
}
