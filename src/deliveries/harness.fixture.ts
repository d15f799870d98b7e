import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestDatabase } from '../../test/database.ts';
import { newId } from '../kit/ids.ts';
import type { Ground } from '../kit/ground.ts';
import { parseAddressRules } from '../kit/http/address.ts';
import { createEgress } from '../kit/http/egress.ts';
import { createLog } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { sleep } from '../kit/retry.ts';
import { createVault, parseMasterKeys } from '../kit/vault.ts';
import { createWorker, type Worker } from '../lanes/index.ts';
import { foldCounts } from '../operations/store/counts.ts';
import { createDeliveries, cutMessages, keepMessages, type Deliveries, type NewMessage } from './index.ts';
import type { DestinationKind } from './kind.ts';
import { createWebhook } from './webhook/index.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}
export type Answer = (response: ServerResponse, received: Received) => void;

/** A receiver on a port of its own, which answers 204 unless told otherwise. */
export interface Receiver {
  url: string;
  received: Received[];
  answer: Answer;
  ids(): string[];
  close(): Promise<void>;
}

export const good: Answer = (response) => response.writeHead(204).end();

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const receiver = { received, answer: good } as Receiver;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      const one = { path: url, headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    ids: () => received.map(({ headers }) => String(headers['webhook-id'])),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** Nodes of deliveries on one database, without anything above. */
export interface DeliveryWorld {
  ground: Ground;
  projectId: string;
  deliveries: Deliveries;
  work(options?: { leaseMs?: number }): Promise<Worker>;
  /** Messages of one record each, for the destination. */
  messages(destinationId: string, count: number, over?: Partial<NewMessage>): Promise<NewMessage[]>;
  /** Keeps them and tells the workers. */
  queue(destinationId: string, count: number, over?: Partial<NewMessage>): Promise<string[]>;
  rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Of the records of an operation, how many arrived, and how many finally did not. */
  countsOf(operationId: string): Promise<Record<string, unknown> | undefined>;
  /** What waits for a later attempt is due now. */
  hurry(): Promise<void>;
  close(): Promise<void>;
}

const key = `k1:${Buffer.alloc(32, 3).toString('base64')}`;

export function openDeliveryWorld(
  test: TestDatabase,
  {
    timeoutMs = 500,
    projectId = newId(),
    leaseMs = 60_000,
    /** In production, where the operator names no address: the receivers stand for public ones. */
    production = false,
    kinds = [createWebhook({ timeoutMs })] as readonly DestinationKind[],
  } = {},
): DeliveryWorld {
  const egressAllow = parseAddressRules(['127.0.0.1']);
  const ground: Ground = {
    database: test.database,
    log: createLog(process.env['TEST_LOG'] ?? 'silent'),
    metrics: createMetrics(),
    limits: {
      bodyBytes: 1e7,
      recordBytes: 1e6,
      nesting: 100,
      lateEffectMs: undefined,
      mappedOnlyIn: () => false,
      providerCallMs: 1_000,
      proxyCallMs: 60_000,
      connectMs: 1_000,
      sessionIdleMinutes: 720,
      sessionHours: 168,
    },
    publicUrl: 'http://svc.test',
    vault: createVault(parseMasterKeys(key)),
    egress: createEgress({ allow: egressAllow, connectTimeoutMs: 1_000 }),
  };
  const deliveries = createDeliveries(ground, {
    production,
    egressAllow: production ? parseAddressRules([]) : egressAllow,
    kinds,
    leaseMs,
  });
  const workers: Worker[] = [];
  const rows: DeliveryWorld['rows'] = (text, values) => test.database.raw(text, values);
  const messages: DeliveryWorld['messages'] = async (destinationId, count, over) => {
    const cut = await Promise.all(
      Array.from({ length: count }, (_, at) => messageTo(projectId, destinationId, at)),
    );
    return cut.map((message) => Object.assign(message, over));
  };
  return {
    ground,
    projectId,
    deliveries,
    rows,
    async countsOf(operationId) {
      await foldCounts(test.database, 1_000);
      return (await rows('SELECT succeeded, failed FROM operation WHERE id = $1', [operationId]))[0];
    },
    messages,
    async work(options) {
      const worker = createWorker(ground, {
        kinds: deliveries.kinds,
        shareOf: async ({ projectId: project, id }) => (await deliveries.shareOf(project, id)) ?? [id],
        pollMs: 50,
        ...options,
      });
      workers.push(worker);
      deliveries.onQueued((destinationId) => worker.hint(destinationId));
      await worker.start();
      return worker;
    },
    async queue(destinationId, count, over) {
      const kept = await messages(destinationId, count, over);
      await keepMessages(test.database, kept);
      deliveries.announce(destinationId);
      return kept.map(({ id }) => id);
    },
    async hurry() {
      await rows(`UPDATE work SET due_at = svc_now() WHERE project_id = $1 AND due_at > svc_now()`, [
        projectId,
      ]);
      await rows(
        `INSERT INTO wake (project_id, lane_id, due_at) SELECT DISTINCT project_id, lane_id, svc_now() FROM work WHERE project_id = $1`,
        [projectId],
      );
      await rows(`UPDATE lane SET not_before = '-infinity' WHERE project_id = $1`, [projectId]);
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop(1_000)));
      await deliveries.close();
      await ground.egress.close();
    },
  };
}

async function messageTo(projectId: string, destinationId: string, at: number): Promise<NewMessage> {
  const installationId = '0190a000-0000-7000-8000-00000000000a';
  const envelope = {
    action: 'read',
    projectId,
    provider: 'hubspot',
    groupRef: 'acme',
    groupName: 'Acme',
    consumerRef: 'ann',
    consumerName: 'Ann',
    installationId,
    installationUpdateTime: '2026-01-02T03:04:05.678Z',
    objectName: 'people',
    rawObjectName: 'contacts',
  } as const;
  const id = String(at + 1);
  const json = JSON.stringify({ fields: {}, mappedFields: { name: `n${id}` }, raw: { id } });
  const [message] = await cutMessages(envelope, [{ json, key: { id, version: '1', deleted: false } }], {
    projectId,
    operationId: null,
    installationId,
    groupRef: 'acme',
    object: 'people',
    destinationId,
    page: 1,
    publicUrl: 'http://svc.test',
  });
  if (!message) throw new Error('one entry makes one message');
  return message;
}

/** Asks until it is so, for at most ten seconds; then answers what it is. */
export async function eventually<T>(ask: () => Promise<T> | T, isSo: (answer: T) => boolean): Promise<T> {
  const until = performance.now() + 10_000;
  for (;;) {
    const answer = await ask();
    if (isSo(answer) || performance.now() > until) return answer;
    await sleep(20);
  }
}
