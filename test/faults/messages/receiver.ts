import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { createRandom, type Random } from '../../../simulator/kit/random.ts';

/** A message as the receiver knows it. */
export interface Arrival {
  /** Of the body, at its first arrival. */
  hash: string;
  /** Which endpoints it came to. */
  endpoints: Set<number>;
  times: number;
  /** How often the status of an answer said that it was taken. */
  taken: number;
  /** How often that was the answer to a replay. */
  replays: number;
}

export interface ReceiverOptions {
  endpoints: number;
  /** The share of requests that are answered by a fault. */
  faultRate: number;
  seed: number;
  /** Told of each message once, when its body is known. */
  onMessage?: (id: string, body: string) => void;
}

/** Endpoints of a builder, each with an origin of its own; a ledger of all that came, outside the platform. */
export interface Receiver {
  urls: readonly string[];
  /** The key that every endpoint verifies with. */
  signingKey: string;
  /** By `webhook-id`. */
  arrivals: ReadonlyMap<string, Arrival>;
  /** Requests that one of the two packages refused, and ids that came with different bodies. */
  unverified: readonly string[];
  changed: readonly string[];
  /** How often each kind of fault was met. */
  faults: Readonly<Record<string, number>>;
  requests: () => number;
  /** Every answer is good from now on. */
  calm(): void;
  close(): Promise<void>;
}

type Fault = 'status' | 'redirect' | 'busy' | 'garbage' | 'deaf' | 'lost' | 'cut' | 'slow' | 'silent';

/** A fault, and its share of all faults. */
const weights: readonly [Fault, number][] = [
  ['status', 30],
  ['redirect', 5],
  ['busy', 5],
  ['garbage', 5],
  ['deaf', 10],
  ['lost', 25],
  ['cut', 10],
  ['slow', 9.5],
  ['silent', 0.5],
];
const sum = weights.reduce((total, [, weight]) => total + weight, 0);
/** A message that was refused so often is taken, so that none comes to its last attempt. */
const patience = 5;

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const signingKey = `whsec_${Buffer.alloc(32, 11).toString('base64')}`;
  const state: State = {
    ...options,
    random: createRandom(options.seed, 'receiver'),
    verifiers: [new StandardWebhook(signingKey), new SvixWebhook(signingKey)],
    arrivals: new Map(),
    unverified: [],
    changed: [],
    faults: {},
    requests: 0,
    isCalm: false,
  };
  const servers = await Promise.all(Array.from({ length: options.endpoints }, (_, at) => listen(state, at)));
  const { arrivals, unverified, changed, faults } = state;
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`),
    signingKey,
    arrivals,
    unverified,
    changed,
    faults,
    requests: () => state.requests,
    calm: () => {
      state.isCalm = true;
    },
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}

interface State extends ReceiverOptions {
  random: Random;
  verifiers: (StandardWebhook | SvixWebhook)[];
  arrivals: Map<string, Arrival>;
  unverified: string[];
  changed: string[];
  faults: Record<string, number>;
  requests: number;
  isCalm: boolean;
}

async function listen(state: State, endpoint: number): Promise<Server> {
  const server = createServer((request, response) => {
    // A node that dies takes its requests with it.
    serve(state, endpoint, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function serve(
  state: State,
  endpoint: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  state.requests += 1;
  const fault = faultOf(state);
  if (fault === 'deaf') return void request.socket.resetAndDestroy();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const arrival = keep(state, endpoint, request, body);
  const met = arrival.times > patience ? undefined : fault;
  if (met === undefined || met === 'cut' || met === 'slow') {
    arrival.taken += 1;
    if (request.headers['x-svc-replay'] === 'true') arrival.replays += 1;
  }
  await misbehave(met, response, request);
  if (!response.headersSent && !response.destroyed && request.socket.writable) response.writeHead(204).end();
}

function faultOf({ random, faultRate, isCalm, faults }: State): Fault | undefined {
  if (isCalm || random.next() >= faultRate) return undefined;
  let left = random.next() * sum;
  const [kind] = weights.find(([, weight]) => (left -= weight) < 0) ?? ['status'];
  faults[kind] = (faults[kind] ?? 0) + 1;
  return kind;
}

/** Looks at what came as its receiver would, by two packages, and keeps it. */
function keep(state: State, endpoint: number, request: IncomingMessage, body: Buffer): Arrival {
  const { arrivals, verifiers, unverified, changed, onMessage } = state;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const id = headers['webhook-id'] ?? '';
  const text = body.toString('utf8');
  for (const verifier of verifiers) {
    try {
      verifier.verify(text, headers);
    } catch (error) {
      unverified.push(`${id}: ${String(error)}`);
    }
  }
  const hash = createHash('sha256').update(body).digest('base64');
  const known = arrivals.get(id);
  const arrival = known ?? { hash, endpoints: new Set(), times: 0, taken: 0, replays: 0 };
  if (known && known.hash !== hash) changed.push(id);
  arrival.endpoints.add(endpoint);
  arrival.times += 1;
  arrivals.set(id, arrival);
  if (!known) onMessage?.(id, text);
  return arrival;
}

async function misbehave(
  fault: Fault | undefined,
  response: ServerResponse,
  { socket }: IncomingMessage,
): Promise<void> {
  switch (fault) {
    case undefined:
    case 'deaf':
      break;
    case 'status':
      response.writeHead(500).end('{"error":"not now"}');
      break;
    case 'redirect':
      response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end();
      break;
    case 'busy':
      response.writeHead(429, { 'retry-after': '1' }).end();
      break;
    case 'garbage':
      socket.end('HTTP/1.1 okay then\r\n\r\n');
      break;
    case 'lost':
      socket.resetAndDestroy();
      break;
    case 'cut':
      response.writeHead(200, { 'content-length': '1000' }).write('{"half":');
      await sleep(20);
      response.destroy();
      break;
    case 'slow':
      await sleep(300 + Math.random() * 1_200);
      break;
    case 'silent':
      await sleep(60_000, undefined, { ref: false });
      response.destroy();
      break;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
