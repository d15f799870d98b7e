import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { controlsOf, createControl } from './control.ts';
import type { Control } from './control.ts';
import type { Fault } from './faults.ts';
import type { Ground, StartOptions } from './ground.ts';
import { html, json, readText, toCall } from './http.ts';
import type { Call, Reply } from './http.ts';
import type { RequestEntry } from './ledger.ts';
import { guidePage } from './page.ts';
import type { Provider } from './provider.ts';

export type Running = { url: string; close: () => Promise<void> };

type Served = {
  ground: Ground;
  provider: Provider;
  controls: Control[];
  control: (call: Call) => Reply;
};

/** Serves a provider on 127.0.0.1 (port 0 unless named) with its control API. */
export async function startServer(
  provider: Provider,
  ground: Ground,
  options: StartOptions,
): Promise<Running> {
  const defaults = { seed: options.seed ?? 1, records: options.records ?? 0 };
  const controls = controlsOf(ground, provider, defaults);
  const served = { ground, provider, controls, control: createControl(provider, controls) };
  const server = createServer((message, response) => {
    serve(served, message, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 65_000;
  await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const url = `http://${options.host ?? '127.0.0.1'}:${port}`;
  ground.url = (options.publicUrl ?? url).replace(/\/$/, '');
  return { url, close: () => close(server) };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function serve(served: Served, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { ground, provider } = served;
  const call = toCall(message, await readText(message));
  if (call.path.startsWith('/__sim/')) return send(response, served.control(call));
  if (call.path === '/' && call.method === 'GET')
    return send(response, guidePage(provider, served.controls, ground.url));
  // The Date header shows the simulated clock, as all other times do.
  response.setHeader('date', new Date(ground.clock.now()).toUTCString());
  const { method, target, headers, text } = call;
  const entry = ground.ledger.open({ at: ground.clock.now(), method, path: target, headers, body: text });
  const fault =
    ground.faults.size > 0
      ? ground.faults.take({ method, target, text, object: provider.objectOf(call) })
      : undefined;
  if (fault) entry.fault = fault.kind;
  const wait = ground.latencyMs + (fault?.kind === 'delay' ? fault.ms : 0);
  if (wait > 0) await sleep(wait);
  return answer(served, call, entry, fault, response);
}

function perform({ ground, provider }: Served, call: Call, entry: RequestEntry): Reply {
  try {
    provider.settle?.();
    const result = ground.ledger.during(entry, () => provider.handle(call));
    if (ground.hooks.size > 0 && result.status < 300) afterAnswer(ground, provider, call);
    return result;
  } catch (error) {
    return provider.crashed(error);
  }
}

/** Applies the changes of hooks that are due after this answer, before the next request. */
function afterAnswer(ground: Ground, provider: Provider, call: Call): void {
  const { method, target, text } = call;
  const due = ground.hooks.answered({ method, target, text, object: provider.objectOf(call) });
  for (const data of due) provider.addData(data);
}

function answer(
  served: Served,
  call: Call,
  entry: RequestEntry,
  fault: Fault | undefined,
  response: ServerResponse,
): void {
  if (fault?.kind === 'reset-before') return reset(response);
  if (fault?.kind === 'late') return performLater(served, call, entry, fault.ms);
  if (fault?.kind === 'html') return reply(entry, response, html(fault.status, htmlError(fault.status)));
  if (fault?.kind === 'chunks') return sendChunks(entry, response, fault);
  const performed = fault === undefined || !('effect' in fault) ? performs(fault) : fault.effect === true;
  const result = performed ? perform(served, call, entry) : json(500, {});
  switch (fault?.kind) {
    case undefined:
    case 'delay':
      return reply(entry, response, result);
    case 'reset-after':
      return reset(response);
    case 'truncate':
      return truncate(response, result);
    case 'hang':
      return undefined;
    case 'malformed':
      return reply(entry, response, { ...result, body: '{"status":"broken' });
    case 'status':
      return reply(entry, response, {
        status: fault.status,
        body: fault.body ?? {},
        headers: fault.headers ?? {},
      });
  }
}

function performLater(served: Served, call: Call, entry: RequestEntry, ms: number): void {
  setTimeout(() => perform(served, call, entry), ms).unref();
}

function performs(fault: Fault | undefined): boolean {
  return fault === undefined || !['status', 'hang'].includes(fault.kind);
}

function reply(entry: RequestEntry, response: ServerResponse, result: Reply): void {
  entry.status = result.status;
  send(response, result);
}

function send(response: ServerResponse, result: Reply): void {
  const payload = payloadOf(result);
  response.writeHead(result.status, headersOf(result, payload));
  response.end(payload);
}

/** The full length is announced, half of the body is sent, then the socket ends. */
function truncate(response: ServerResponse, result: Reply): void {
  const payload = payloadOf(result);
  response.writeHead(result.status, {
    ...headersOf(result, payload),
    'content-length': String(Math.max(payload.length, 2)),
  });
  response.write(payload.subarray(0, Math.max(1, Math.floor(payload.length / 2))), () => response.destroy());
}

/** Many chunks in one write: node would frame each by itself. */
function sendChunks(
  entry: RequestEntry,
  response: ServerResponse,
  { status, text, count }: Extract<Fault, { kind: 'chunks' }>,
): void {
  entry.status = status;
  response.writeHead(status, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
  response.flushHeaders();
  const { socket } = response;
  const chunk = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const together = chunk.repeat(10_000);
  let left = count;
  const sendMore = (): void => {
    while (left > 0) {
      const next = left < 10_000 ? chunk.repeat(left) : together;
      left -= Math.min(left, 10_000);
      if (!socket?.write(next)) return void socket?.once('drain', sendMore);
    }
    response.end();
  };
  sendMore();
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

function payloadOf(result: Reply): Buffer {
  if (result.body === undefined) return Buffer.alloc(0);
  return Buffer.from(typeof result.body === 'string' ? result.body : JSON.stringify(result.body), 'utf8');
}

function headersOf(result: Reply, payload: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  if (result.body !== undefined) headers['content-type'] = 'application/json;charset=utf-8';
  if (result.status !== 204 && result.status !== 304) headers['content-length'] = String(payload.length);
  return { ...headers, ...result.headers };
}

function htmlError(status: number): string {
  return `<!doctype html><html><head><title>${status}</title></head><body><h1>${status}</h1><p>The service is not available.</p></body></html>`;
}
