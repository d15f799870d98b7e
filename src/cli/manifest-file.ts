import { checkManifest, factsOf } from '../projects/manifest/index.ts';
import type { Manifest, ManifestIssue } from '../projects/manifest/schema.ts';
import { loadCatalog } from '../providers/index.ts';
import { exitCodes, Failure } from './failure.ts';
import { inOptions } from './option-names.ts';
import { counted } from './output.ts';
import { readText } from './text-file.ts';

/** A manifest as it stands in a file, and what is wrong with it. */
export interface ManifestFile {
  path: string;
  text: string;
  manifest?: Manifest;
  errors: ManifestIssue[];
  warnings: ManifestIssue[];
}

/** Reads and checks the file; asks nobody. Throws when it cannot be read. */
export async function readManifestFile(path: string): Promise<ManifestFile> {
  const text = await readText(path, 'Name the manifest behind the command, or write a first one: svc init.');
  const { manifest, errors, warnings } = checkManifest(text, factsOf(loadCatalog()));
  return { path, text, errors, warnings, ...(manifest ? { manifest } : {}) };
}

/** The manifest of the file. Throws with every fault when it has some. */
export async function validManifest(path: string): Promise<ManifestFile & { manifest: Manifest }> {
  const file = await readManifestFile(path);
  if (file.manifest) return { ...file, manifest: file.manifest };
  throw new Failure(
    `${describeIssues(file, file.errors)}\n${counted(file.errors.length, 'error')} in ${path}.`,
    'Correct what is marked and run the command again.',
    exitCodes.refused,
    { code: 'manifest-invalid', errors: file.errors, warnings: file.warnings },
  );
}

/** Each issue with its line of the file, and a caret under its place. */
export function describeIssues(
  { path, text }: Pick<ManifestFile, 'path' | 'text'>,
  issues: readonly ManifestIssue[],
): string {
  const lines = text.split(/\r\n|\r|\n/);
  return issues
    .map(({ severity, rule, path: at, message, line, column, suggestion }) => {
      const source = (lines[line - 1] ?? '').slice(0, 200);
      const margin = String(line).padStart(5);
      const before = source.slice(0, column - 1).replaceAll(/[^\t]/g, ' ');
      return [
        `${path}:${line}:${column} ${severity}: ${[at, inOptions(message)].filter(Boolean).join(' ')} (${rule})`,
        `${margin} | ${source}`,
        `${' '.repeat(margin.length)} | ${before}^${suggestion === undefined ? '' : ` ${suggestion}`}`,
      ].join('\n');
    })
    .join('\n');
}
