/** `npm run test:mutants [-- name]`: one wrong variant of the sources at a time; exits 1 unless the ordinary tests notice each. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/kit/db/embedded/index.ts';
import { mutants } from './mutants.ts';
import { copySources, type Copy, type Mutant } from './sources.ts';
import { verdictOf, type TestReport, type Verdict } from './verdict.ts';

interface Finding extends Verdict {
  seconds: number;
}

/** No end within this time is no verdict: a test has to say what is wrong. */
const limitMs = (files: number): number => Math.max(240_000, files * 60_000);

async function runTests(copy: Copy, tests: readonly string[], env: NodeJS.ProcessEnv): Promise<Finding> {
  const startedAt = performance.now();
  const file = join(copy.folder, 'report.json');
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--reporter=./test/mutants/reporter.ts', ...tests],
    { cwd: copy.folder, env: { ...env, TEST_REPORT: file }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs(tests.length));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  const seconds = (performance.now() - startedAt) / 1_000;
  const report = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as TestReport,
    () => undefined,
  );
  await rm(file, { force: true });
  return { ...verdictOf(code, report, said), seconds };
}

function row(name: string, { killedBy, broken, seconds }: Finding): string {
  const what = broken === undefined ? (killedBy ?? 'SURVIVED') : `BROKEN: ${broken.slice(0, 300)}`;
  return `${name.padEnd(46)} ${seconds.toFixed(1).padStart(6)} s  ${what}`;
}

async function judge(copy: Copy, mutant: Mutant, env: NodeJS.ProcessEnv): Promise<Finding> {
  await copy.change(mutant.changes);
  try {
    return await runTests(copy, mutant.tests, env);
  } finally {
    await copy.restore(mutant.changes);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const wanted = process.argv[2];
  const chosen = mutants.filter(({ name }) => wanted === undefined || name.includes(wanted));
  const folder = await mkdtemp(join(tmpdir(), 'svc-mutants-'));
  const server = process.env['DATABASE_URL'] ? undefined : await startEmbedded({ dataDir: folder });
  const copy = await copySources();
  const env = { ...process.env, DATABASE_URL: server?.url ?? process.env['DATABASE_URL'] };
  let bad = 0;
  try {
    const intact = await runTests(copy, [...new Set(chosen.flatMap(({ tests }) => tests))], env);
    print(row('(none)', { ...intact, killedBy: intact.killedBy ?? 'all tests pass' }));
    if (intact.killedBy !== undefined || intact.broken !== undefined) return 1;
    for (const mutant of chosen) {
      const finding = await judge(copy, mutant, env);
      if (finding.killedBy === undefined) bad += 1;
      print(row(mutant.name, finding));
    }
  } finally {
    await copy.remove();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
  print(`${chosen.length - bad} of ${chosen.length} mutants killed`);
  return bad === 0 ? 0 : 1;
}

process.exitCode = await main();
