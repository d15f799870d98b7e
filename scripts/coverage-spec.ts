/** `npm run coverage:spec`: checks that tests carry each paragraph of the specification and writes the list; `--check` only compares. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultsOf, render } from './spec-coverage/coverage.ts';
import { readTests } from './spec-coverage/find.ts';
import { paragraphs } from './spec-coverage/paragraphs.ts';

const root = join(import.meta.dirname, '..');
const path = 'docs/spec-coverage.md';
const isCheck = process.argv.includes('--check');

const tests = readTests(root, ['src', 'test', 'simulator']).all();
const faults = faultsOf(paragraphs, tests);
for (const fault of faults) console.log(fault);

const wanted = render(paragraphs, tests);
const isStale = (await readFile(join(root, path), 'utf8').catch(() => undefined)) !== wanted;
const writes = isStale && !isCheck && faults.length === 0;
if (writes) await writeFile(join(root, path), wanted);
if (writes) console.log(`written: ${path}`);
if (isStale && isCheck) console.log(`${path} is not up to date: npm run coverage:spec`);
process.exitCode = faults.length > 0 || (isStale && isCheck) ? 1 : 0;
