import type { DeployedChange, DeployPreview, ManifestIssue } from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { Failure } from './failure.ts';
import { describeIssues, validManifest, type ManifestFile } from './manifest-file.ts';
import { impactLine } from './plan/impact-line.ts';
import { say } from './output.ts';

interface DeployOptions extends ConnectionOptions {
  dryRun?: boolean;
  destructive?: boolean;
  yes?: boolean;
}

/** `svc deploy`: checks the manifest here, then deploys it. Asks before it ends what installations use. */
export async function deploy(path: string, options: DeployOptions): Promise<void> {
  const file = await validManifest(path);
  const svc = await connect(options);
  const destructive = options.destructive ?? false;
  const preview = await svc.integrations.preview(file.text, { destructive });
  if (options.dryRun) {
    say(options, preview, [...changesOf(preview), ...warningsOf(file, preview.warnings)].join('\n'));
    return;
  }
  if (destructive) await agree(preview, options);
  const deployed = await svc.integrations.deploy(file.text, { destructive });
  const warnings = deployed.flatMap((one) => one.warnings ?? []);
  const lines = [...changesOf(preview), ...warningsOf(file, warnings), `Deployed ${path}.`];
  say(options, deployed, lines.join('\n'));
}

/** A line for each integration, and one for each part of it that changes. */
export function changesOf({ integrations, untouched }: DeployPreview): string[] {
  const parts = ({ added, changed, removed }: DeployedChange): string[] => [
    ...added.map((name) => `  + ${name}`),
    ...changed.map((name) => `  ~ ${name}`),
    ...removed.map((name) => `  - ${name}`),
  ];
  return [
    ...integrations.flatMap((one) => [`${one.name} (${one.provider}): ${one.change}`, ...parts(one)]),
    ...untouched.map((name) => `${name}: not in the manifest, stays as it is`),
  ];
}

export function warningsOf(file: ManifestFile, warnings: readonly ManifestIssue[]): string[] {
  return warnings.length > 0 ? [describeIssues(file, warnings)] : [];
}

/** What a destructive deploy takes away is not read and not written any more: somebody must want that. */
async function agree({ integrations }: DeployPreview, options: DeployOptions): Promise<void> {
  const removed = integrations.flatMap((one) => one.removed.map((part) => `${one.name}: ${part}`));
  if (removed.length === 0) return;
  // A server of an earlier release does not tell whom it touches.
  const impacts = integrations.flatMap((one) => (one as Partial<DeployedChange>).impacts ?? []);
  const ended = impacts.filter(({ kind }) => kind === 'stopsReading' || kind === 'stopsWriting');
  const whom = ended.map((one) => `\n${impactLine(one)}`).join('');
  await confirm(`This ends for every installation: ${removed.join(', ')}.${whom}`, options, {
    without: 'leave --destructive away',
    nothing: new Failure('Nothing was deployed.', 'Leave --destructive away to keep it going.'),
  });
}
