/** nginx before one upstream or several, with one worker and upstream connections that are kept, as an operator would set it up. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../test/free-port.ts';
import { atEnd } from './at-end.ts';
import { end } from '../scripts/child.ts';

/** The program, or undefined where it is not installed. */
export function findNginx(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path));
}

function configOf(folder: string, port: number, upstreamPorts: readonly number[]): string {
  const servers = upstreamPorts.map((upstream) => `server 127.0.0.1:${upstream} max_fails=0;`).join('\n    ');
  return `daemon off;
master_process off;
worker_processes 1;
pid ${folder}/pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests 1000000000;
  upstream provider {
    ${servers}
    keepalive 64;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}

export async function startNginx(
  program: string,
  ...upstreamPorts: readonly number[]
): Promise<{ port: number; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-nginx-'));
  const removed = atEnd(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  await writeFile(config, configOf(folder, port, upstreamPorts));
  const child = spawn(program, ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = atEnd(() => end(child));
  for (let left = 100; !(await answers(port)); left -= 1) {
    if (left === 0 || child.exitCode !== null) throw new Error('nginx did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    port,
    close: async () => {
      await ended();
      await removed();
    },
  };
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return true;
    },
    () => false,
  );
}
