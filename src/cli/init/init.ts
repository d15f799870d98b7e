import { access } from 'node:fs/promises';
import { checkManifest, factsOf } from '../../projects/manifest/index.ts';
import { abilitiesOf, loadCatalog, type Catalog, type Provider } from '../../providers/index.ts';
import { exitCodes, Failure } from '../failure.ts';
import { describeIssues } from '../manifest-file.ts';
import { say } from '../output.ts';
import { writeText } from '../text-file.ts';
import { manifestText, type Wanted } from './manifest-text.ts';

interface InitOptions {
  provider?: string;
  object?: string[];
  name?: string;
  destination: string;
  force?: boolean;
  json?: boolean;
}

/** Objects to choose from where the provider has them; others are typed. */
const usual: Readonly<Record<string, readonly string[]>> = {
  hubspot: ['contacts', 'companies', 'deals', 'tickets'],
  salesforce: ['Contact', 'Account', 'Lead', 'Opportunity'],
};

/** `svc init`: asks what is missing, and writes a manifest that is valid. */
export async function init(path: string, options: InitOptions): Promise<void> {
  if (!options.force) await absent(path);
  const catalog = loadCatalog();
  const provider = providerOf(catalog, options.provider ?? (await askProvider(catalog, path)));
  const { read, write } = abilitiesOf(provider.name);
  const isWorked = read || write.length > 0;
  const objects = isWorked ? [...new Set(options.object ?? (await askObjects(provider, path)))] : [];
  const wanted: Wanted = {
    provider: provider.name,
    displayName: provider.displayName,
    name: options.name ?? provider.name.replaceAll(/[^A-Za-z0-9-]/g, '-'),
    objects,
    destination: options.destination,
    reads: read,
    writes: write.length > 0,
  };
  const text = manifestText(wanted);
  refuseInvalid(path, text, catalog);
  await writeText(path, text);
  const does = isWorked
    ? `reads and writes ${objects.join(', ')}`
    : 'has its proxy alone: svc does not read or write there yet';
  say(
    options,
    { path, ...wanted },
    `Wrote ${path}: ${wanted.name} ${does}.\nNext: \`svc dev\` tries it on this machine; \`svc deploy\` brings it to a server.`,
  );
}

async function absent(path: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new Failure(
      `${path} is there already.`,
      'Name another file, or say --force to replace it.',
      exitCodes.usage,
    );
}

function providerOf(catalog: Catalog, name: string): Provider {
  const found = catalog.find(name);
  if (found) return found;
  const near = catalog
    .list()
    .filter((one) => name !== '' && one.name.toLowerCase().includes(name.toLowerCase().slice(0, 4)));
  throw new Failure(
    `There is no provider ${name}.`,
    near.length > 0
      ? `Did you mean ${near
          .slice(0, 3)
          .map((one) => one.name)
          .join(', ')}?`
      : '`svc init` without --provider offers those that there are.',
    exitCodes.usage,
  );
}

/** A name that breaks a rule of the manifest is told before anything is written. */
function refuseInvalid(path: string, text: string, catalog: Catalog): void {
  const { manifest, errors } = checkManifest(text, factsOf(catalog));
  if (manifest) return;
  throw new Failure(
    describeIssues({ path, text }, errors),
    'Give other names. Nothing was written.',
    exitCodes.usage,
  );
}

async function askProvider(catalog: Catalog, path: string): Promise<string> {
  const { search } = await prompts(path, 'hubspot');
  const worked = ({ name }: Provider): number => (abilitiesOf(name).read ? 0 : 1);
  const known = catalog.list().toSorted((a, b) => worked(a) - worked(b) || a.name.localeCompare(b.name));
  return asked(() =>
    search({
      message: 'Which provider?',
      source: (term = '') =>
        known
          .filter(({ name, displayName }) =>
            `${name} ${displayName}`.toLowerCase().includes(term.toLowerCase()),
          )
          .map((one) => ({
            value: one.name,
            name: one.displayName,
            description: worked(one) === 0 ? 'reads, writes and its own API' : 'its own API, by the proxy',
          })),
    }),
  );
}

async function askObjects({ name, displayName }: Provider, path: string): Promise<string[]> {
  const { checkbox, input } = await prompts(path, name);
  const known = usual[name];
  if (known)
    return asked(() =>
      checkbox({
        message: `Which objects of ${displayName}?`,
        choices: known.map((value, at) => ({ value, checked: at === 0 })),
        required: true,
      }),
    );
  const typed = await asked(() =>
    input({ message: `Which objects of ${displayName}, with commas between?`, required: true }),
  );
  return typed.split(',').map((one) => one.trim());
}

/** Nobody can be asked without a terminal. */
async function prompts(path: string, provider: string) {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new Failure(
      'What to declare is not said, and nobody can be asked.',
      `Say it: svc init ${path} --provider ${provider} --object ${usual[provider]?.[0] ?? 'contacts'}`,
      exitCodes.usage,
    );
  return import('@inquirer/prompts');
}

async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return ask().catch((error: Error) => {
    if (error.name !== 'ExitPromptError') throw error;
    throw new Failure('Interrupted.', 'Nothing was written.', exitCodes.interrupted);
  });
}
