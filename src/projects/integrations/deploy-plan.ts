import { isDeepStrictEqual } from 'node:util';
import { failed, type Finding } from '../manifest/finding.ts';
import type { DeployedChange, Manifest, ManifestIntegration } from '../schema.ts';
import { labelOf, retain, type RetainedObject } from './retained.ts';
import type { Integration } from './store.ts';

/** What differs of an integration, without what that means to its installations. */
export type ShownChange = Omit<DeployedChange, 'installations' | 'impacts' | 'leftOut'>;

/** One integration of the manifest against what is live. */
export type IntegrationPlan =
  | { change: 'created'; content: ManifestIntegration; shown: ShownChange }
  | {
      change: 'updated';
      content: ManifestIntegration;
      /** Its place in the manifest. */
      index: number;
      live: Integration;
      shown: ShownChange;
      /** Objects that stay for existing installations, and objects that are removed. */
      retained: RetainedObject[];
      takenAway: RetainedObject[];
    }
  | { change: 'unchanged'; live: Integration; shown: ShownChange };

export interface DeployTerms {
  /** Whether what the manifest no longer holds ends for installations that have it. */
  destructive: boolean;
  /** When the deploy happens, by the clock that dates installations. */
  at: string;
  /** Only this integration of the manifest, by its name. */
  only?: string | undefined;
}

export interface DeployPlan {
  specVersion: string;
  integrations: IntegrationPlan[];
  /** Live integrations that the manifest does not name: a deploy leaves them alone. */
  untouched: string[];
}

const objectActions = ['read', 'write', 'subscribe'] as const;
const otherKeys = ['displayName', 'module', 'proxy', 'watchSchema'] as const;

/** Compares a valid manifest with what is live: what a deploy would do, or why it may not. Pure. */
export function planDeploy(
  manifest: Manifest,
  live: readonly Integration[],
  terms: DeployTerms,
): DeployPlan | { refusals: Finding[] } {
  const { specVersion, integrations } = manifest;
  const { only } = terms;
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
    integrations: wanted.map(([index, content]) =>
      planOne({ content, index }, specVersion, byName.get(content.name), terms),
    ),
    untouched: live.filter(({ name }) => !named.has(name)).map(({ name }) => name),
  };
}

function planOne(
  { content, index }: { content: ManifestIntegration; index: number },
  specVersion: string,
  live: Integration | undefined,
  terms: DeployTerms,
): IntegrationPlan {
  const before = live?.latestRevision;
  const difference = differenceOf(before?.content, content);
  const { name, provider } = content;
  if (!live || !before) {
    return { change: 'created', content, shown: { name, provider, change: 'created', ...difference } };
  }
  const kept = retain(before, content, terms);
  const ends = terms.destructive && before.retained.length > 0;
  // Keys may stand in another order; lists may not.
  if (!ends && before.specVersion === specVersion && isDeepStrictEqual(before.content, content)) {
    return { change: 'unchanged', live, shown: { name, provider, change: 'unchanged', ...difference } };
  }
  const removed = [...new Set([...difference.removed, ...kept.takenAway.map(labelOf)])];
  const shown = { name, provider, change: 'updated' as const, ...difference, removed };
  return { change: 'updated', content, index, live, shown, ...kept };
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

/** The parts of an integration by a key in which the case of object names does not count. */
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
