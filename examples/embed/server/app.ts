import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { SvcError, verifyWebhook, type Svc } from '@svc/client';
import { bytesOf, callsOf, Sessions, type Answer } from './calls.ts';
import type { Ready } from './setup.ts';
import { Subscribers, type Message } from './subscribers.ts';

export interface AppOptions {
  svc: Svc;
  /** Where the page reaches svc. */
  svcUrl: string;
  /** Where the built page is. */
  folder: string;
}

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** The application. It listens before svc is told of it, and serves once it is `ready`. */
export function createApp({ svc, svcUrl, folder }: AppOptions): {
  server: Server;
  ready: (ready: Ready) => void;
} {
  const subscribers = new Subscribers();
  const sessions = new Sessions();
  let known: Ready | undefined;
  const ready = (): Ready => {
    if (!known) throw new Error('svc is not told of this application yet');
    return known;
  };
  const calls = callsOf(svc, svcUrl, subscribers, ready);

  async function answer(request: IncomingMessage, path: string): Promise<Answer> {
    const name = `${request.method} ${path}`;
    if (name === 'POST /webhooks/svc') return received(request);
    if (name === 'POST /api/sign-in') return sessions.signIn(request);
    const person = sessions.personOf(request);
    return person ? (calls[name]?.(request, person) ?? { status: 404 }) : { status: 401 };
  }

  /** A delivery of svc: believed for its signature only. */
  async function received(request: IncomingMessage): Promise<Answer> {
    const message = { headers: request.headers, body: await bytesOf(request) };
    subscribers.receive(await verifyWebhook<Message>(message, ready().webhookSecret));
    return { status: 204 };
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://mailmonkey');
    const isCall = pathname.startsWith('/api/') || pathname.startsWith('/webhooks/');
    const done = isCall
      ? answer(request, pathname).then((given) => send(response, given))
      : sendFile(response, folder, pathname);
    done.catch((error: unknown) => refuse(response, error));
  });
  return { server, ready: (told) => (known = told) };
}

function send(response: ServerResponse, { status, body, cookie }: Answer): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
    })
    .end(body === undefined ? undefined : JSON.stringify(body));
}

async function sendFile(response: ServerResponse, folder: string, pathname: string): Promise<void> {
  const name = /^\/assets\/[\w.-]+$/.test(pathname) ? pathname : '/index.html';
  const body = await readFile(join(folder, name));
  response.writeHead(200, { 'content-type': types[extname(name)] ?? 'text/plain' }).end(body);
}

/** What svc or the provider says of a write goes to the page; a delivery that is not answered well is sent again. */
function refuse(response: ServerResponse, error: unknown): void {
  if (error instanceof SvcError) {
    const status = error.code === 'webhook-invalid' ? 401 : 502;
    return send(response, { status, body: { detail: error.detail } });
  }
  process.stderr.write(`${(error as Error).stack}\n`);
  return send(response, { status: 500, body: { detail: 'Something went wrong here.' } });
}
