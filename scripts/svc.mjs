#!/usr/bin/env node
// `svc` from the sources.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.argv.splice(2, 0, join(dirname(fileURLToPath(import.meta.url)), '../src/cli/main.ts'));
await import('./node.mjs');
