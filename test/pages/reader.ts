import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from '../platform.ts';
import { blocksIn } from './blocks.ts';

/** What was printed by the commands of a section, and what to know before the next. */
export type Between = (printed: string) => Promise<Record<string, string> | void>;

export interface Preparation {
  /** By the name of a section: what its reader has at hand, as variables. */
  before?: Record<string, Between>;
  /** What its reader does by hand after it, such as opening a link. */
  after?: Record<string, Between>;
}

/** Somebody with a terminal in a folder with the `svc.yaml` of the example, who does what a page says from the top to the bottom. */
export async function readAlong(page: string, platform: Platform, prepared: Preparation): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-reader-'));
  try {
    await copyFile('examples/crm-sync/svc.yaml', join(folder, 'svc.yaml'));
    // An answer that is no success ends the commands.
    await writeFile(join(folder, '.curlrc'), 'fail-with-body\n');
    await writeFile(join(folder, 'key.txt'), platform.apiKey);
    await mkdir(join(folder, 'bin'));
    const svc = `#!/bin/sh\nexec "${process.execPath}" "${join(process.cwd(), 'scripts/svc.mjs')}" "$@"\n`;
    await writeFile(join(folder, 'bin/svc'), svc, { mode: 0o755 });
    let printed = '';
    for (const { section, commands } of sectionsOf(page)) {
      const own = (await prepared.before?.[section]?.(printed)) ?? {};
      const env = {
        PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
        HOME: folder,
        CURL_HOME: folder,
        SVC: platform.base,
        KEY: platform.apiKey,
        P: 'default',
        ...own,
      };
      const said = await shell(asHere(commands, platform), folder, env);
      await prepared.after?.[section]?.(said);
      printed += said;
    }
    return printed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sectionsOf(page: string): { section: string; commands: string }[] {
  const shells = blocksIn(page).filter(({ language }) => language === 'sh');
  const names = [...new Set(shells.map(({ section }) => section))];
  return names.map((section) => ({
    section,
    commands: shells
      .filter((block) => block.section === section)
      .map(({ text }) => text)
      .join('\n'),
  }));
}

/** A page gives the addresses of an installation with its defaults; here they are others. */
function asHere(commands: string, { base, proxy }: Platform): string {
  return commands
    .replaceAll('http://127.0.0.1:4000', base)
    .replaceAll('http://127.0.0.1:4001', proxy)
    .replaceAll('https://svc.example.com', base);
}

function shell(commands: string, cwd: string, env: Record<string, string>): Promise<string> {
  const child = spawn('sh', ['-euc', commands], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  let said = '';
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    said += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) =>
      code === 0 ? done(printed) : failed(new Error(`${commands}\n\nended with ${code}: ${said}`)),
    );
  });
}
