/** `npm run new:provider <key> [folder]`: makes a provider file from the template, in the catalogue or in a folder of your own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { loadCatalog } from '../src/providers/index.ts';

const root = join(import.meta.dirname, '..');
const own = join(root, 'src/providers/catalog');

function faultOf(key: string, path: string): string | undefined {
  if (!/^[A-Za-z0-9]+$/.test(key))
    return 'Usage: npm run new:provider <key> [folder], the key of letters and digits.';
  if (!existsSync(dirname(path))) return `There is no folder ${dirname(path)}: make it first.`;
  if (existsSync(path) || loadCatalog().find(key)) return `There is a provider ${key} already.`;
  return undefined;
}

/** `acmeBooks` → `Acme Books`. */
function nameOf(key: string): string {
  const words = key.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function main([key = '', folder]: string[]): void {
  const directory = folder === undefined ? own : resolve(folder);
  const path = join(directory, `${key}.yaml`);
  const fault = faultOf(key, path);
  if (fault !== undefined) {
    console.error(fault);
    process.exitCode = 1;
    return;
  }
  const template = readFileSync(join(import.meta.dirname, 'templates/provider.yaml'), 'utf8');
  writeFileSync(path, template.replaceAll('__KEY__', key).replaceAll('__NAME__', nameOf(key)));
  // Throws when the template no longer fits the schema.
  loadCatalog(directory === own ? {} : { directory });
  const shown = relative(process.cwd(), path);
  const last =
    directory === own
      ? [
          'Write down apart from it, in test/journeys/every-provider.yaml, what the documentation says.',
          'Run: npm test -- test/journeys/every-provider',
        ]
      : [`Start with SVC_PROVIDERS_DIR=${relative(process.cwd(), directory) || '.'}`];
  const steps = [
    `Fill in ${shown} from the documentation of the provider (docs/providers/files.md explains each key).`,
    ...last,
  ];
  console.log(`Made ${shown}. Next:\n${steps.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`);
}

main(process.argv.slice(2));
