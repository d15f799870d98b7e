import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { simulated } from '../../scripts/simulated.ts';
import { freePort } from '../free-port.ts';

interface Run {
  child: ChildProcess;
  said: () => string;
  ended: Promise<number | null>;
  /** As a terminal does it at Ctrl+C: everything that was started gets the signal. */
  interrupt: () => void;
}

describe('test/journeys/commands', () => {
  let folder: string;
  const runs: Run[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-commands-'));
    // As root the embedded server runs as another user, who must get there.
    await chmod(folder, 0o755);
  });
  afterEach(() => {
    for (const { child } of runs.splice(0)) if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A command of package.json as npm runs it, in a process group of its own. */
  function run(args: string[], given: Record<string, string> = {}, cwd?: string): Run {
    const child = spawn(process.execPath, ['scripts/node.mjs', ...args], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...given },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    const one = { child, said: () => said, ended, interrupt: () => void process.kill(-child.pid!, 'SIGINT') };
    runs.push(one);
    return one;
  }

  /** The command lines of the processes that name this folder. */
  async function serversOf(dataDir: string): Promise<string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return lines.filter((line) => line.includes(dataDir) && line.includes('postgres'));
  }

  async function folderOf(name: string): Promise<string> {
    const path = join(folder, name);
    await mkdir(path, { mode: 0o755 });
    return path;
  }

  it.each([
    ['scripts/demo/main.ts', 'npm run demo'],
    ['scripts/dev.ts', 'npm run dev'],
  ])('%s explains itself, and refuses what it does not know', async (file, name) => {
    const helped = run([file, '--help']);
    expect([await helped.ended, helped.said()]).toEqual([0, expect.stringContaining(name)]);
    for (const args of [['--exti'], ['--port', '5020'], ['now']]) {
      const refused = run([file, ...args]);
      expect(await refused.ended).toBe(2);
      expect(refused.said()).toMatch(new RegExp(`${args[0]}.*--help`, 's'));
    }
  });

  it('a checkout without its packages says how to install them', async () => {
    const checkout = await folderOf('checkout');
    await cp('scripts', join(checkout, 'scripts'), { recursive: true });
    await cp('package-lock.json', join(checkout, 'package-lock.json'));
    const refused = run(['scripts/demo/main.ts'], {}, checkout);
    expect([await refused.ended, refused.said()]).toEqual([
      1,
      `The packages of svc are not installed. Run "npm ci" in ${checkout}, and the command again.\n`,
    ]);
  });

  it('the origins and addresses that the environment names are kept beside those of the simulators', () => {
    const given = {
      SVC_EGRESS_ALLOW: '127.0.0.1:7000',
      SVC_PROVIDER_ORIGINS: 'pipedrive=http://127.0.0.1:7001',
    };
    expect(simulated({ hubspot: 'http://127.0.0.1:4010' }, '127.0.0.1:4010', given)).toEqual({
      SVC_PROVIDER_ORIGINS: 'hubspot=http://127.0.0.1:4010,pipedrive=http://127.0.0.1:7001',
      SVC_EGRESS_ALLOW: '127.0.0.1:4010,127.0.0.1:7000',
    });
    expect(simulated({ hubspot: 'http://h' }, 'h', {})).toEqual({
      SVC_PROVIDER_ORIGINS: 'hubspot=http://h',
      SVC_EGRESS_ALLOW: 'h',
    });
  });

  it('the demo ends with what the platform said when it cannot start', async () => {
    const blocked = join(folder, 'a-file');
    await writeFile(blocked, '');
    const demo = run(['scripts/demo/main.ts', '--exit'], { SVC_DATA_DIR: join(blocked, 'data') });
    expect(await demo.ended).toBe(1);
    expect(demo.said()).toMatch(/svc could not start: .*a-file/);
  }, 60_000);

  it('the demo runs again on the data that it left, a second one says why it cannot start, and Ctrl+C ends all of it', async () => {
    const SVC_DATA_DIR = await folderOf('demo');
    const first = run(['scripts/demo/main.ts', '--exit'], { SVC_DATA_DIR });
    expect([await first.ended, first.said()]).toEqual([0, expect.stringContaining('Done in')]);
    const demo = run(['scripts/demo/main.ts'], { SVC_DATA_DIR });
    await expect.poll(demo.said, { timeout: 90_000, interval: 200 }).toMatch(/Stop with Ctrl\+C|✗/);
    expect(demo.said()).not.toContain('✗');
    const beside = run(['scripts/demo/main.ts', '--exit'], { SVC_DATA_DIR });
    expect(await beside.ended).toBe(1);
    expect(beside.said()).toMatch(/svc could not start: .*\n/);
    expect(beside.said()).not.toMatch(/[{}]|"level"|process ended/);
    demo.interrupt();
    expect([await demo.ended, demo.said()]).toEqual([0, expect.not.stringContaining('The platform ended')]);
    expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
  }, 180_000);

  it('a signal that comes twice at once, as from npm and from the terminal, stops the platform in order', async () => {
    const SVC_DATA_DIR = await folderOf('platform');
    const platform = run(['src/main.ts'], {
      SVC_DATA_DIR,
      SVC_PORT: String(await freePort()),
      SVC_PROXY_PORT: String(await freePort()),
    });
    await expect.poll(platform.said, { timeout: 60_000, interval: 100 }).toContain('svc is ready');
    platform.interrupt();
    setTimeout(() => platform.interrupt(), 100);
    expect(await platform.ended).toBe(0);
    expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
  }, 90_000);
});
