import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksIn } from './blocks.ts';

const page = 'docs/quickstart.md';
const ports = [4000, 4001, 4010, 4011, 4400];

/** Where the page's ports are free: in a network of its own, where the system gives one, with processes that end together. */
const apart = ['unshare', '--net', '--pid', '--fork', '--kill-child'];
const [first = '', ...flags] = apart;
const hasOwnNetwork = spawnSync(first, [...flags, 'ip', 'link', 'set', 'lo', 'up']).status === 0;

async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((done) => {
    socket.once('connect', () => done(true)).once('error', () => done(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

const taken = hasOwnNetwork ? [] : (await Promise.all(ports.map(isTaken))).filter(Boolean);
const without = taken.length > 0 ? ' (skipped: its ports are taken, and there is no network namespace)' : '';

/** The page from its top to its bottom. What it says to do in other terminals runs beside. */
function script(): string {
  const commands = blocksIn(page).filter(({ language }) => language === 'sh');
  const beside = (note: string, until: string): string => {
    const { text = '' } = commands.find((block) => block.note === note) ?? {};
    return `(${text.trim()}) >${note}.log 2>&1 &\nn=0; until ${until}; do n=$((n+1)); [ $n -lt 200 ]; sleep 0.3; done\n`;
  };
  // Everything is installed here; a clean install of the packages is what CI begins with.
  const here = commands
    .filter(({ note, text }) => note === '' && text.trim() !== 'npm ci')
    .map(({ text }) => text);
  return [
    hasOwnNetwork ? 'ip link set lo up' : '',
    beside('start', 'curl -q -sf http://127.0.0.1:4000/readyz >/dev/null'),
    beside('listen', 'grep -q Listening listen.log'),
    ...here,
    `n=0; until grep -q 'read .*contacts' listen.log; do n=$((n+1)); [ $n -lt 100 ]; sleep 0.2; done`,
    `ids=$(curl -sS "$SVC/v1/projects/$P/deliveries" -H "X-Api-Key: $KEY" | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)`,
    `for id in $ids; do curl -sS "$SVC/v1/projects/$P/deliveries/$id?includeBody=true" -H "X-Api-Key: $KEY"; done`,
    `echo; echo the end`,
  ].join('\n');
}

describe('test/pages/quickstart', () => {
  let clone: string;
  beforeAll(async () => {
    clone = await mkdtemp(join(tmpdir(), 'svc-clone-'));
    // The database runs as somebody else when this is root.
    await chmod(clone, 0o755);
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
      maxBuffer: 2 ** 26,
    });
    execFileSync('xargs', ['-0', 'cp', '--parents', '-t', clone], { input: files });
    await symlink(join(process.cwd(), 'node_modules'), join(clone, 'node_modules'));
    await writeFile(join(clone, '.curlrc'), 'fail-with-body\n');
  });
  afterAll(() => rm(clone, { recursive: true, force: true }));

  it.skipIf(without)(
    `leads from a clone to the first write and the first delivery, word for word${without}`,
    async () => {
      const command = ['sh', '-eu', '-c', script()];
      const [file = '', ...args] = hasOwnNetwork ? [...apart, ...command] : command;
      const child = spawn(file, args, {
        cwd: clone,
        env: { PATH: process.env['PATH'] ?? '', HOME: clone, CURL_HOME: clone },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const giveUp = setTimeout(() => child.kill('SIGKILL'), 100_000);
      await new Promise((done) => {
        child.once('exit', done);
      });
      clearTimeout(giveUp);
      if (!hasOwnNetwork && child.pid) process.kill(-child.pid, 'SIGTERM');
      expect(said).toMatch(/the end\n$/);
      expect(said).toContain('<h1>Connected</h1>');
      expect(said).toMatch(/"recordId": "\d+"/);
      expect(said.slice(said.lastIndexOf('"recordId"'))).toMatch(/"numRecords":\d+[^]*ada@example\.com/);
    },
    120_000,
  );
});
