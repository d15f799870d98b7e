#!/usr/bin/env node
// `svc [role]`: the same as `npm start -- [role]`.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.argv.splice(2, 0, join(dirname(fileURLToPath(import.meta.url)), '../src/main.ts'));
await import('./node.mjs');
