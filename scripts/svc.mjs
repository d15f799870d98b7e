#!/usr/bin/env node
// `svc`: a builder's command, or, with an operator's word or none, the same as `npm start -- [role]`.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const operators = ['all', 'api', 'worker', 'migrate', 'keys'];
const [word] = process.argv.slice(2);
const file = word === undefined || operators.includes(word) ? '../src/main.ts' : '../src/cli/main.ts';
process.argv.splice(2, 0, join(dirname(fileURLToPath(import.meta.url)), file));
await import('./node.mjs');
