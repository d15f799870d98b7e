/** `npm run coverage:spec`: checks that each line of the specification has its tests and writes the list; `--check` only compares. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultsOf } from './spec-coverage/check.ts';
import { createFinder } from './spec-coverage/find.ts';
import { render } from './spec-coverage/render.ts';
import { sections } from './spec-items/index.ts';

const root = join(import.meta.dirname, '..');
const path = 'docs/spec-coverage.md';
const isCheck = process.argv.includes('--check');

const faults = faultsOf(sections, createFinder(root, ['src', 'test', 'simulator', 'scripts', 'bench']));
for (const fault of faults) console.log(fault);

const wanted = render(sections);
const isStale = (await readFile(join(root, path), 'utf8').catch(() => undefined)) !== wanted;
const writes = isStale && !isCheck && faults.length === 0;
if (writes) await writeFile(join(root, path), wanted);
if (writes) console.log(`written: ${path}`);
if (isStale && isCheck) console.log(`${path} is not up to date: npm run coverage:spec`);
process.exitCode = faults.length > 0 || (isStale && isCheck) ? 1 : 0;
