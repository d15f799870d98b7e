import type { DeployedChange } from '../../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { changesOf, warningsOf } from '../deploy.ts';
import { validManifest } from '../manifest-file.ts';
import { counted, say } from '../output.ts';
import { impactLine } from './impact-line.ts';

interface PlanOptions extends ConnectionOptions {
  destructive?: boolean;
}

/** Warnings that say in the manifest what impacts say by installation. */
const ofImpacts = new Set([
  'object-taken-away',
  'object-renamed',
  'field-taken-away',
  'schedule-taken-away',
  'mapping-taken-away',
  'proxy-taken-away',
  'mapping-missing',
]);

/** `svc plan`: what a deploy changes, and for which installations. Changes nothing. */
export async function plan(path: string, options: PlanOptions): Promise<void> {
  const file = await validManifest(path);
  const svc = await connect(options);
  const destructive = options.destructive ?? false;
  const preview = await svc.integrations.preview(file.text, { destructive });
  const lines = [
    ...changesOf(preview),
    ...preview.integrations.filter(({ change }) => change === 'updated').flatMap(consequencesOf),
    ...warningsOf(
      file,
      preview.warnings.filter(({ rule }) => !ofImpacts.has(rule)),
    ),
    endOf(preview.integrations, destructive),
  ];
  say(options, preview, lines.join('\n'));
}

function endOf(integrations: readonly Pick<DeployedChange, 'change'>[], destructive: boolean): string {
  if (integrations.every(({ change }) => change === 'unchanged')) return 'There is nothing to deploy.';
  return `Nothing was changed. svc deploy${destructive ? ' --destructive' : ''} does it.`;
}

/** How many installations there are, and a line for each thing that the change means to some of them. */
function consequencesOf({ name, installations, impacts, leftOut }: Partial<DeployedChange>): string[] {
  // A server of an earlier release tells neither.
  if (installations === undefined || impacts === undefined)
    return [
      `${name}: the server is older than this command and does not tell which installations that touches`,
    ];
  return [
    `${name}: ${counted(installations, 'installation')}, ${impacts.length === 0 ? 'none of which was found to lose or lack anything' : 'of which'}`,
    ...impacts.map(impactLine),
    ...(leftOut === undefined ? [] : [`  ! ${counted(leftOut, 'more part')} of the change not looked at`]),
  ];
}
