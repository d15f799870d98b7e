/** `npm run check`: everything that must hold besides the tests. Runs all steps, shows what each failing one said, fails if one does. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { installSubPackage } from './sub-package.ts';

const node = process.execPath;
const steps: { name: string; command: string[] }[] = [
  { name: 'format', command: ['oxfmt', '--check', '.'] },
  { name: 'lint (type-aware)', command: ['npm', 'run', '--silent', 'lint'] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types of the client', command: ['tsc', '-p', 'ui/client'] },
  { name: 'types of its tests', command: ['tsc', '-p', 'ui/client/test'] },
  { name: 'types of the components', command: ['tsc', '-p', 'ui/embed'] },
  { name: 'types of their tests', command: ['tsc', '-p', 'ui/embed/test'] },
  { name: 'types of the page of their states', command: ['tsc', '-p', 'ui/embed/gallery'] },
  { name: 'types of the example application', command: ['tsc', '-p', 'examples/embed'] },
  { name: 'types of their test application', command: ['tsc', '-p', 'ui/embed/test/app'] },
  { name: 'types of the console', command: ['tsc', '-p', 'ui/console'] },
  { name: 'types of the command line', command: ['tsc', '-p', 'src/cli'] },
  { name: 'import directions', command: ['npm', 'run', '--silent', 'imports'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'migrations', command: [node, 'scripts/check-migrations.ts'] },
  { name: 'API document (Redocly, Spectral)', command: [node, 'scripts/lint-openapi.ts'] },
  { name: 'generated files (OpenAPI, client, docs)', command: [node, 'scripts/generate.ts', '--check'] },
  { name: 'documents as a site', command: [node, 'site/build.ts'] },
  { name: 'citations and links', command: [node, 'scripts/check-citations.ts'] },
  { name: 'specification coverage', command: [node, 'scripts/coverage-spec.ts', '--check'] },
];

function run(command: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const [file = '', ...args] = command;
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        NO_COLOR: '1',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        REDOCLY_TELEMETRY: 'off',
      },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

// Two of the steps need it; they run at the same time.
installSubPackage(join(import.meta.dirname, '../test/openapi'));

let failed = 0;
const waiting = [...steps];

async function work(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) {
    const startedAt = performance.now();
    const { code, output } = await run(step.command);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${code === 0 ? '✓' : '✗'} ${step.name} (${seconds} s)`);
    if (code === 0) continue;
    failed += 1;
    console.log(
      output
        .trimEnd()
        .split('\n')
        .slice(-120)
        .map((line) => `    ${line}`)
        .join('\n'),
    );
  }
}

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
console.log(failed === 0 ? `${steps.length} checks hold` : `${failed} of ${steps.length} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;
