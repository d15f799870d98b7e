/**
 * Takes webhooks at as many ports as are asked for, and prints them. `POST /__bench` at the first of them begins anew, with the
 * ports named in `hanging` not answering any more and with what is replayed not counted where `live` is said, and breaks off what was not answered before; `GET /__bench?messages=N` is answered once so many different messages came
 * to the others: when the last of them did, and how long each took from its making, in milliseconds.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

let hanging = new Set<number>();
let live = false;
const unanswered = new Set<ServerResponse>();
let took = new Map<string, number>();
let lastAt = 0;
let waiting: { messages: number; tell: () => void } | undefined;

const receive = (request: IncomingMessage, response: ServerResponse): void => {
  request.resume();
  const id = String(request.headers['webhook-id']);
  if (hanging.has(request.socket.localPort ?? 0)) {
    unanswered.add(response);
    return;
  }
  request.once('end', () => {
    response.writeHead(204).end();
    if (!live || request.headers['x-svc-replay'] === undefined) note(id);
  });
};

/** The id of a message tells when it was made (RFC 9562, version 7). */
function note(id: string): void {
  if (took.has(id)) return;
  lastAt = Date.now();
  took.set(id, lastAt - Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
  if (waiting && took.size >= waiting.messages) waiting.tell();
}

async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    const asked = (await json(request)) as { hanging: number[]; live: boolean };
    hanging = new Set(asked.hanging);
    live = asked.live;
    took = new Map();
    for (const one of unanswered) one.destroy();
    unanswered.clear();
    response.end();
    return;
  }
  const messages = Number(new URL(request.url ?? '', 'http://receiver').searchParams.get('messages'));
  if (took.size < messages) await new Promise<void>((tell) => (waiting = { messages, tell }));
  waiting = undefined;
  response.end(JSON.stringify({ lastAt, tookMs: [...took.values()] }));
}

const handle = (request: IncomingMessage, response: ServerResponse): void => {
  if (!request.url?.startsWith('/__bench')) return receive(request, response);
  control(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
};

const servers = Array.from({ length: Number(process.argv[2] ?? 1) }, () => createServer(handle));
const ports = await Promise.all(
  servers.map(
    (server) =>
      new Promise<number>((resolve) => {
        server.keepAliveTimeout = 65_000;
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      }),
  ),
);
console.log(ports.join(' '));
