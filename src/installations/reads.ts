import type { Database } from '../kit/db/database.ts';
import { effectiveReadObjects, type EffectiveReadObject } from './effective-read.ts';
import { manifestFor } from './manifest-for.ts';
import { loadConfigured, loadDeclared } from './reads-store.ts';

/** An installation, and every object that is read for it. */
export interface InstalledReads {
  integrationId: string;
  groupRef: string;
  objects: EffectiveReadObject[];
}

/**
 * What is read for installations of a project, by their ids; those that are gone are missing. A manifest is loaded once, however many
 * installations have it.
 */
export async function installedReads(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, InstalledReads>> {
  if (ids.length === 0) return new Map();
  const rows = await loadConfigured(database, projectId, ids);
  const integrationIds = [...new Set(rows.map((row) => row.integration_id))];
  const declared = new Map(
    (await loadDeclared(database, projectId, integrationIds)).map((row) => [row.id, row]),
  );
  return new Map(
    rows.flatMap((row) => {
      const { id, integration_id: integrationId, group_ref: groupRef, content } = row;
      const found = declared.get(integrationId);
      if (!found) return [];
      const manifest = manifestFor({ content: found.content, retained: found.retained ?? [] }, row);
      return [[id, { integrationId, groupRef, objects: effectiveReadObjects({ manifest, content }) }]];
    }),
  );
}
