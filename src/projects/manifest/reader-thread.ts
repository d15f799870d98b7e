/** A thread that checks manifests: one may take seconds, in which nobody else is to wait. */
import { parentPort, workerData } from 'node:worker_threads';
import { declaredObjects } from './declared.ts';
import type { CatalogFacts, ReadManifest } from './reader.ts';
import { renderPath, type Path } from './finding.ts';
import type { ManifestIntegration } from './schema.ts';
import { checkManifest } from './validate.ts';

const facts = workerData as CatalogFacts;
const catalog = { find: (provider: string) => facts.get(provider), names: () => [...facts.keys()] };
/** More errors or warnings than anybody reads; each costs the others' thread a moment to take over. */
const most = 1_000;

/** What is looked at after the check, by whoever knows the provider and the project. */
function namedIn(integration: ManifestIntegration, root: Path): Path[] {
  const declared = declaredObjects(integration);
  const pathsOf = (action: 'read' | 'write'): Path[] =>
    (integration[action]?.objects ?? []).map((_, at) => [action, 'objects', at]);
  const reads = pathsOf('read');
  const paths: Path[] = [
    ['provider'],
    // Of an object that is declared no more.
    ['read'],
    ['write'],
    ['proxy'],
    ...reads,
    ...pathsOf('write'),
    ...declared.map(({ path }) => path),
    ...declared.flatMap(({ fields }) => fields.map(({ path }) => path)),
    ...reads.map((path) => path.concat('destination')),
  ];
  return paths.map((path) => root.concat(path));
}

parentPort?.on('message', (text: string) => {
  const { manifest, errors, warnings, locate, ignored } = checkManifest(text, catalog);
  const answer: ReadManifest = {
    ...(manifest ? { manifest } : {}),
    errors: errors.slice(0, most),
    warnings: warnings.slice(0, most),
    ignored,
    places: Object.fromEntries(
      (manifest?.integrations ?? [])
        .flatMap((integration, index) => namedIn(integration, ['integrations', index]))
        .map((path) => [renderPath(path), locate(path)]),
    ),
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(answer);
});
