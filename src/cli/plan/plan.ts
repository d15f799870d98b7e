import type { DeployedChange, Svc } from '../../../ui/client/src/index.ts';
import type { Manifest } from '../../projects/manifest/schema.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { changesOf, warningsOf } from '../deploy.ts';
import { validManifest } from '../manifest-file.ts';
import { counted, say } from '../output.ts';
import { ImpactCount, type Impact } from './impact.ts';

interface PlanOptions extends ConnectionOptions {
  destructive?: boolean;
}

/** What a deploy does to what is installed of an integration. */
interface Consequence {
  integration: string;
  installations: number;
  impacts: Impact[];
}

/** `svc plan`: what a deploy changes, and for which installations. Changes nothing. */
export async function plan(path: string, options: PlanOptions): Promise<void> {
  const file = await validManifest(path);
  const svc = await connect(options);
  const destructive = options.destructive ?? false;
  const preview = await svc.integrations.preview(file.text, { destructive });
  const consequences = await consequencesOf(svc, file.manifest, preview.integrations, destructive);
  const lines = [
    ...changesOf(preview),
    ...consequences.flatMap(linesOf),
    ...warningsOf(file, preview.warnings),
    destructive
      ? 'Nothing was changed. svc deploy --destructive does it.'
      : 'Nothing was changed. svc deploy does it.',
  ];
  say(options, { ...preview, consequences }, lines.join('\n'));
}

/** Of each integration that changes, every installation is looked at. */
async function consequencesOf(
  svc: Svc,
  manifest: Manifest,
  changes: readonly DeployedChange[],
  destructive: boolean,
): Promise<Consequence[]> {
  const updated = new Set(changes.flatMap(({ name, change }) => (change === 'updated' ? [name] : [])));
  const found: Consequence[] = [];
  if (updated.size === 0) return found;
  for await (const { name, latestRevision } of svc.integrations.list()) {
    const after = manifest.integrations.find((one) => one.name === name);
    if (!after || !updated.has(name)) continue;
    const count = new ImpactCount(latestRevision.content, after, { destructive });
    for await (const one of svc.installations.list({ integration: name, pageSize: 1_000 })) count.add(one);
    found.push({ integration: name, installations: count.installations, impacts: count.found() });
  }
  return found;
}

const words: Readonly<Record<Impact['kind'], [one: string, many: string]>> = {
  'stops-reading': ['stops reading', 'stop reading'],
  'stops-writing': ['may no longer write', 'may no longer write'],
  'loses-field': ['loses', 'lose'],
  'needs-mapping': ['needs a mapping for', 'need a mapping for'],
  'lacks-scope': ['lacks the scope', 'lack the scope'],
};

function linesOf({ integration, installations, impacts }: Consequence): string[] {
  return [
    `${integration}: ${counted(installations, 'installation')}, ${impacts.length === 0 ? 'none of which loses or lacks anything' : 'of which'}`,
    ...impacts.map(({ kind, what, count, groups }) => {
      const more = count > groups.length ? ', …' : '';
      return `  ! ${count} ${words[kind][count === 1 ? 0 : 1]} ${what} (${groups.join(', ')}${more})`;
    }),
  ];
}
