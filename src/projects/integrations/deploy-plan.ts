import { isDeepStrictEqual } from 'node:util';
import { failed, type Finding } from '../manifest/finding.ts';
import type { DeployedChange, Manifest, ManifestIntegration } from '../schema.ts';
import type { Integration } from './store.ts';

/** One integration of the manifest against what is live. */
export type IntegrationPlan =
  | { change: 'created'; content: ManifestIntegration; shown: DeployedChange }
  | { change: 'updated'; content: ManifestIntegration; live: Integration; shown: DeployedChange }
  | { change: 'unchanged'; live: Integration; shown: DeployedChange };

export interface DeployPlan {
  specVersion: string;
  integrations: IntegrationPlan[];
  /** Live integrations that the manifest does not name: a deploy leaves them alone. */
  untouched: string[];
}

const objectActions = ['read', 'write', 'subscribe'] as const;
const otherKeys = ['displayName', 'module', 'proxy', 'watchSchema'] as const;

/** Compares a valid manifest (or its integration `only`) with what is live: what a deploy would do, or why it may not. Pure. */
export function planDeploy(
  manifest: Manifest,
  live: readonly Integration[],
  only?: string,
): DeployPlan | { refusals: Finding[] } {
  const { specVersion, integrations } = manifest;
  const byName = new Map(live.map((integration) => [integration.name, integration]));
  const wanted = [...integrations.entries()].filter(([, { name }]) => only === undefined || name === only);
  const refusals = wanted.flatMap(([index, { name, provider }]) => {
    const current = byName.get(name);
    if (!current || current.provider === provider) return [];
    const message = `is ${provider}, but the live integration ${name} is of ${current.provider}, and an integration keeps its provider`;
    return [failed('provider-changed', ['integrations', index, 'provider'], message, 'Use another name.')];
  });
  if (refusals.length > 0) return { refusals };
  const named = new Set(integrations.map(({ name }) => name));
  return {
    specVersion,
    integrations: wanted.map(([, content]) => planOne(content, specVersion, byName.get(content.name))),
    untouched: live.filter(({ name }) => !named.has(name)).map(({ name }) => name),
  };
}

function planOne(
  content: ManifestIntegration,
  specVersion: string,
  live: Integration | undefined,
): IntegrationPlan {
  const before = live?.latestRevision;
  const difference = differenceOf(before?.content, content);
  const { name, provider } = content;
  if (!live || !before) {
    return { change: 'created', content, shown: { name, provider, change: 'created', ...difference } };
  }
  // Keys may stand in another order; lists may not.
  if (before.specVersion === specVersion && isDeepStrictEqual(before.content, content)) {
    return { change: 'unchanged', live, shown: { name, provider, change: 'unchanged', ...difference } };
  }
  return { change: 'updated', content, live, shown: { name, provider, change: 'updated', ...difference } };
}

type Difference = Pick<DeployedChange, 'added' | 'changed' | 'removed'>;

/** What differs, as paths such as `read.contacts` and `proxy`. */
function differenceOf(before: ManifestIntegration | undefined, after: ManifestIntegration): Difference {
  const old = parts(before);
  const current = parts(after);
  const shown = (part: { label: string }): string => part.label;
  return {
    added: [...current].filter(([key]) => !old.has(key)).map(([, part]) => shown(part)),
    changed: [...current]
      .filter(([key, part]) => old.has(key) && !isDeepStrictEqual(old.get(key)?.value, part.value))
      .map(([, part]) => shown(part)),
    removed: [...old].filter(([key]) => !current.has(key)).map(([, part]) => shown(part)),
  };
}

/** The parts of an integration by a key in which the case of object names does not count (product-api 2.2). */
function parts(integration: ManifestIntegration | undefined): Map<string, { label: string; value: unknown }> {
  const found = new Map<string, { label: string; value: unknown }>();
  for (const action of objectActions) {
    for (const object of integration?.[action]?.objects ?? []) {
      const label = `${action}.${object.objectName}`;
      found.set(label.toLowerCase(), { label, value: object });
    }
  }
  for (const key of otherKeys) {
    const value = integration?.[key];
    if (value !== undefined) found.set(key.toLowerCase(), { label: key, value });
  }
  return found;
}
