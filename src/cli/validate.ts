import { exitCodes } from './failure.ts';
import { describeIssues, readManifestFile } from './manifest-file.ts';
import { counted, say } from './output.ts';

/** `svc validate`: every fault of a manifest, offline. */
export async function validate(path: string, options: { json?: boolean }): Promise<void> {
  const file = await readManifestFile(path);
  const { manifest, errors, warnings } = file;
  const issues = [...errors, ...warnings];
  const found = `${counted(errors.length, 'error')}, ${counted(warnings.length, 'warning')}`;
  const verdict = manifest
    ? `${path} is valid: ${counted(manifest.integrations.length, 'integration')}, ${counted(warnings.length, 'warning')}.`
    : `${path} is not valid: ${found}. Correct what is marked.`;
  const shown = issues.length > 0 ? [describeIssues(file, issues)] : [];
  say(options, { valid: manifest !== undefined, errors, warnings }, [...shown, verdict].join('\n'));
  if (!manifest) process.exitCode = exitCodes.refused;
}
