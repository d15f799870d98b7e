import type { DeployPreview, Integration } from '@svc/client';

/** The revision of each integration, by its name. */
export type Revisions = ReadonlyMap<string, string>;

export const revisionsOf = (integrations: readonly Integration[]): Revisions =>
  new Map(integrations.map(({ name, latestRevision }) => [name, latestRevision.id]));

/** Of the integrations that a deploy changes, those that somebody deployed since a text was begun on `base`. */
export function deployedMeanwhile(
  base: Revisions,
  now: Revisions,
  { integrations }: Pick<DeployPreview, 'integrations'>,
): string[] {
  return integrations
    .filter(({ change }) => change !== 'unchanged')
    .map(({ name }) => name)
    .filter((name) => now.has(name) && now.get(name) !== base.get(name));
}
