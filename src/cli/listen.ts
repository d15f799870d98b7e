import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SvcError, verifyWebhook } from '../../ui/client/src/index.ts';
import { isHttpUrl } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { say, tell } from './output.ts';
import { reasonOf } from './unreachable.ts';

interface ListenOptions {
  port: number;
  forwardTo?: string;
  json?: boolean;
}

/** What came, as far as a line tells of it. */
interface Told {
  action?: string;
  notificationType?: string;
  objectName?: string;
  groupRef?: string;
  resultInfo?: { numRecords?: number };
}

const longestBody = 10 * 1024 * 1024;
/** Of the connection and of the request that was forwarded, not of its content. */
const notForwarded = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
]);

/** `svc listen`: a receiver on this machine that prints what is delivered to it and passes it on, until it is interrupted. */
export async function listen(options: ListenOptions): Promise<void> {
  const { forwardTo } = options;
  if (forwardTo !== undefined && !isHttpUrl(forwardTo))
    throw new Failure(
      `${forwardTo === '' ? 'Nothing' : forwardTo} is not a URL.`,
      'Give one such as http://127.0.0.1:3000/hooks.',
      exitCodes.usage,
    );
  const secret = process.env['SVC_SIGNING_KEY'];
  if (secret && !/^whsec_[\w+/]+=*$/.test(secret))
    throw new Failure(
      'SVC_SIGNING_KEY is no key of a destination: such a key begins with whsec_.',
      'Set it to the one that `svc destinations get <destination> --secrets` tells.',
      exitCodes.usage,
    );
  const close = await openReceiver(options, { secret });
  const checks = secret
    ? 'signatures are checked'
    : 'signatures are not checked: set SVC_SIGNING_KEY for that';
  tell(`Listening on http://127.0.0.1:${options.port}; ${checks}. Ctrl+C ends it.`);
  await new Promise((ended) => {
    // They stay: a terminal may signal twice, through the process that started this one.
    process.on('SIGINT', ended).on('SIGTERM', ended);
  });
  close();
}

/** Prints what is delivered to the port until it is closed. `portOption`: the option of the command that names the port. */
export async function openReceiver(
  options: ListenOptions,
  { secret, portOption = '--port' }: { secret?: string | undefined; portOption?: string } = {},
): Promise<() => void> {
  const server = createServer((request, response) => {
    receive(request, secret, options).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => refuse(response, error),
    );
  });
  await listening(server.listen(options.port, '127.0.0.1'), options.port, portOption);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function listening(server: ReturnType<typeof createServer>, port: number, option: string): Promise<unknown> {
  return once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'something else listens there' : error.message;
    throw new Failure(
      `Port ${port} cannot be listened on: ${why}.`,
      `Give another: ${option} ${port < 65_535 ? port + 1 : port - 1}.`,
      exitCodes.usage,
    );
  });
}

/** Prints a delivery, passes it on, and answers as the one that it was passed to. */
async function receive(
  request: IncomingMessage,
  secret: string | undefined,
  options: ListenOptions,
): Promise<number> {
  if (request.method !== 'POST') return 405;
  const body = await bodyOf(request);
  if (!body) return 413;
  const { headers } = request;
  if (secret) await verifyWebhook({ headers, body }, secret);
  const text = body.toString('utf8');
  const status = options.forwardTo === undefined ? 204 : await forward(options.forwardTo, request, body);
  const message = parsed(text);
  const id = String(headers['webhook-id'] ?? '');
  say(options, { id, status, message: message ?? text }, lineOf(id, status, message));
  return status;
}

/** Nothing where it is longer than what svc sends. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function forward(url: string, { headers }: IncomingMessage, body: Buffer): Promise<number> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    notForwarded.has(name) || typeof value !== 'string' ? [] : [[name, value]],
  );
  try {
    const sent = new Uint8Array(body);
    const signal = AbortSignal.timeout(14_000);
    const answer = await fetch(url, {
      method: 'POST',
      headers: kept,
      body: sent,
      redirect: 'manual',
      signal,
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    tell(`${url} gave no answer: ${reasonOf(error).why}. svc is told 502 and sends it again.`);
    return 502;
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  tell(error instanceof SvcError ? error.detail : String(error));
  response.writeHead(error instanceof SvcError ? 400 : 500).end();
}

function lineOf(id: string, status: number, message: Told | undefined): string {
  const { action, notificationType, objectName, groupRef, resultInfo } = message ?? {};
  const count = resultInfo?.numRecords;
  const parts = [
    id,
    notificationType ?? action ?? 'not JSON',
    objectName,
    groupRef,
    count === undefined ? undefined : `${count} records`,
  ];
  return [...parts.filter(Boolean), `→ ${status}`].join('  ');
}

function parsed(text: string): Told | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
