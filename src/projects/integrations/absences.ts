import { warned, type Finding, type Path } from '../manifest/finding.ts';
import type { Manifest, ManifestIntegration } from '../schema.ts';

/** A name of an integration that its provider does not have, or names that it could not be asked for; `path` starts at the integration. */
export interface Absence {
  rule: 'object-unknown' | 'field-unknown' | 'names-unchecked';
  path: Path;
  message: string;
}

/** What the integration names and the provider lacks, where it can be asked. */
export type AbsencesHook = (projectId: string, content: ManifestIntegration) => Promise<readonly Absence[]>;

/** A warning for each name of a manifest that the provider says it does not have, and for what it could not be asked for. */
export async function findAbsences(
  projectId: string,
  { integrations }: Manifest,
  { ask, only }: { ask: AbsencesHook; only: string | undefined },
): Promise<Finding[]> {
  const findings = integrations.map(async (content, index) => {
    if (only !== undefined && content.name !== only) return [];
    const absences = await ask(projectId, content);
    return absences.map(({ rule, path, message }) => warned(rule, ['integrations', index, ...path], message));
  });
  return (await Promise.all(findings)).flat();
}
