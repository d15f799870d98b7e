import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { atEnd } from '../at-end.ts';
import { scaled, type Figure } from '../figure.ts';
import { startServer, startStage, type Stage } from '../stage.ts';
import { acceptRecord } from './accept.ts';

const starts = scaled(20);
const lines = scaled(10_000);
/** As many at once as `svc write` has where nobody says otherwise. */
const atOnce = 8;

/** A program of one line that asks for one thing. */
const oneRequest = (url: string, apiKey: string): string =>
  `fetch('${url}', { headers: { 'x-api-key': '${apiKey}' } }).then((answer) => answer.text())`;

export const cliVersion: Figure = {
  id: 'cli-start-version',
  about: `svc --version, built, from start to end, ${starts} in turn`,
  unit: 'ms',
  yardstick: 'node -e 0',
  goal: { of: 'ratio', atMost: 1.5 },
  prepare: async () => {
    const cli = await openCli();
    return {
      run: () => inTurn([cli.svc, '--version'], ['-e', '0']),
      close: () => cli.close(),
    };
  },
};

export const cliGet: Figure = {
  id: 'cli-start-get',
  about: `svc operations get, built, from start to end, ${starts} in turn`,
  unit: 'ms',
  yardstick: 'a program of one line that fetches the same',
  goal: { of: 'ratio', atMost: 1.5 },
  prepare: async () => {
    const { stage, env, close, svc } = await openStage();
    const { operationId } = await stage.call<{ operationId: string }>(
      'POST',
      `/write/v1/projects/${stage.projectId}/integrations/crm/objects/contacts`,
      { groupRef: 'g', type: 'create', mode: 'asynchronous', record: acceptRecord },
    );
    const url = `${stage.base}/v1/projects/${stage.projectId}/operations/${operationId}`;
    return {
      run: () => inTurn([svc, 'operations', 'get', operationId], ['-e', oneRequest(url, stage.apiKey)], env),
      close,
    };
  },
};

export const cliWrite: Figure = {
  id: 'cli-write',
  about: `lines of NDJSON written asynchronously by svc write, built, ${lines} of them`,
  unit: 'lines/s',
  yardstick: `the same posted by bare undici, ${atOnce} at once`,
  goal: { of: 'ratio', atLeast: 0.7 },
  prepare: async () => {
    const { stage, env, close, svc } = await openStage();
    const folder = await mkdtemp(join(tmpdir(), 'svc-bench-lines-'));
    const file = join(folder, 'lines.ndjson');
    const removed = atEnd(() => rm(folder, { recursive: true, force: true }));
    let round = 0;
    return {
      run: async () => {
        round += 1;
        await writeFileOf(file, round);
        const words = 'write crm contacts --group g --type create --mode asynchronous --file'.split(' ');
        const value = (lines / (await elapsed([svc, ...words, file], env))) * 1000;
        return { value, yardstick: await postedPerSecond(stage, round) };
      },
      close: async () => {
        await removed();
        await close();
      },
    };
  },
};

const lineOf = (n: number, round: number): string =>
  JSON.stringify({ ...acceptRecord, email: `someone.${round}.${n}@example.com` });

async function writeFileOf(file: string, round: number): Promise<void> {
  const out = createWriteStream(file);
  for (let n = 0; n < lines; n += 1) out.write(`${lineOf(n, round)}\n`);
  await once(out.end(), 'finish');
}

/** Each under a key of its own, as the lines are. */
async function postedPerSecond({ base, projectId, apiKey }: Stage, round: number): Promise<number> {
  const pool = new Pool(base, { connections: atOnce });
  const path = `/write/v1/projects/${projectId}/integrations/crm/objects/contacts`;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const startedAt = performance.now();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < lines) {
      const number = (next += 1);
      const record = JSON.parse(lineOf(number, round)) as object;
      const body = JSON.stringify({ groupRef: 'g', type: 'create', mode: 'asynchronous', record });
      const key = { 'idempotency-key': `posted-${round}-${number}` };
      const answer = await pool.request({ method: 'POST', path, headers: { ...headers, ...key }, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`a write was answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  const tookMs = performance.now() - startedAt;
  await pool.close();
  return (lines / tookMs) * 1000;
}

/** The program as it would be installed, below node_modules, so that it finds its dependencies. */
async function openCli(): Promise<{ svc: string; close: () => Promise<void> }> {
  const folder = join(import.meta.dirname, `../../node_modules/.cache/svc-bench-${process.pid}`);
  const close = atEnd(() => rm(folder, { recursive: true, force: true }));
  await promisify(execFile)(process.execPath, ['scripts/node.mjs', 'scripts/build-cli.ts', folder]);
  return { svc: join(folder, 'lib/begin.mjs'), close };
}

/** The program beside a service that accepts writes and sends none. */
async function openStage() {
  const cli = await openCli();
  const upstream = await startServer('upstream.ts');
  const stage = await startStage(`http://127.0.0.1:${upstream.port}`, { role: 'api' });
  const env = {
    HOME: tmpdir(),
    SVC_API_URL: stage.base,
    SVC_API_KEY: stage.apiKey,
    SVC_PROJECT: stage.projectId,
  };
  const close = async (): Promise<void> => {
    await stage.close();
    await upstream.close();
    await cli.close();
  };
  return { stage, env, svc: cli.svc, close };
}

/** One after the other, so that both meet the same machine; the mean of each. */
async function inTurn(
  ours: readonly string[],
  theirs: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ value: number; yardstick: number }> {
  let [value, yardstick] = [0, 0];
  for (let n = 0; n < starts; n += 1) {
    value += (await elapsed(ours, env)) / starts;
    yardstick += (await elapsed(theirs, env)) / starts;
  }
  return { value, yardstick };
}

/** Milliseconds from the start of node with these words to its end; throws when it failed. */
async function elapsed(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${args.slice(1).join(' ')} ended with ${code}: ${said}`);
  return performance.now() - startedAt;
}
