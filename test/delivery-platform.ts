import { Webhook } from 'standardwebhooks';
import { cutMessages, keepMessages, type NewMessage } from '../src/deliveries/index.ts';
import {
  eventually,
  startReceiver,
  type Received,
  type Receiver,
} from '../src/deliveries/harness.fixture.ts';
import { newId } from '../src/kit/ids.ts';
import { createTestDatabase } from './database.ts';
import { startPlatform, type Answer, type CallOptions } from './platform.ts';

export interface Destination {
  id: string;
  name: string;
  status: string;
  reason?: string;
  metadata: Record<string, unknown>;
  secrets?: { webhookSigningKey: string };
}
export interface Delivery {
  id: string;
  status: string;
  groupRef: string;
  objectName: string;
  attemptCount: number;
  httpStatus?: number;
  error?: string;
}
export interface Page<Item> {
  results: Item[];
  pagination: { done: boolean; nextPageToken?: string };
}
export type Problem = { code: string; detail: string; issues?: { name: string }[] };

/** The installations of the messages that are queued here. */
export const installations = { acme: newId(), globex: newId() };
type Group = keyof typeof installations;

/** Throws unless one of the keys signed it. */
export function verify(key: string, { headers, body }: Received): unknown {
  return new Webhook(key).verify(body, headers as Record<string, string>);
}

export type DeliveryPlatform = Awaited<ReturnType<typeof openDeliveryPlatform>>;

/** Two nodes, receivers, and messages for them that no read made. */
export async function openDeliveryPlatform() {
  const test = await createTestDatabase();
  const receivers: Receiver[] = [];
  const env = { SVC_LEASE_MS: '2000' };
  const one = await startPlatform({ databaseUrl: test.url, env });
  const two = await startPlatform({ databaseUrl: test.url, beside: one, env });

  const base = '/projects/default';
  const call = <Body>(method: string, path: string, body?: unknown, options?: CallOptions) =>
    one.call<Body>(method, `${base}${path}`, body, options);
  async function must<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
    const { status, body, text } = await answer;
    if (status >= 300) throw new Error(`${status} ${text}`);
    return body;
  }

  async function receive(port?: number): Promise<Receiver> {
    const receiver = await startReceiver(port);
    receivers.push(receiver);
    return receiver;
  }
  const create = (name: string, url: string): Promise<Destination> =>
    must(call<Destination>('POST', '/destinations', { name, type: 'webhook', metadata: { url } }));
  async function keyOf({ id }: Destination): Promise<string> {
    const shown = await must(call<Destination>('GET', `/destinations/${id}?includeSecrets=true`));
    return shown.secrets!.webhookSigningKey;
  }
  async function messages(
    destinationId: string,
    count: number,
    group: Group = 'acme',
  ): Promise<NewMessage[]> {
    const installationId = installations[group];
    const envelope = {
      action: 'read',
      projectId: one.projectId,
      provider: 'hubspot',
      groupRef: group,
      groupName: group,
      consumerRef: 'ada',
      consumerName: 'Ada',
      installationId,
      installationUpdateTime: '2026-01-02T03:04:05.678Z',
      objectName: 'people',
      rawObjectName: 'contacts',
    } as const;
    const origin = {
      projectId: one.projectId,
      operationId: null,
      installationId,
      groupRef: group,
      object: 'people',
      destinationId,
      page: 1,
      publicUrl: one.base,
    };
    const cut = Array.from({ length: count }, (_, at) => {
      const id = String(at);
      const json = `{"fields":{},"mappedFields":{"amount":1.50},"raw":{"id":"${id}"}}`;
      return cutMessages(envelope, [{ json, key: { id, version: '1', deleted: false } }], origin);
    });
    return (await Promise.all(cut)).flat();
  }
  async function queue(destinationId: string, count: number, group?: Group): Promise<string[]> {
    const kept = await messages(destinationId, count, group);
    await keepMessages(test.database, kept);
    return kept.map(({ id }) => id);
  }
  const list = (query: string, options?: CallOptions): Promise<Page<Delivery>> =>
    must(call<Page<Delivery>>('GET', `/deliveries?${query}`, undefined, options));
  const withStatus = (destination: Destination, status: string, count: number): Promise<Delivery[]> =>
    eventually(
      async () => (await list(`destination=${destination.name}&status=${status}&pageSize=1000`)).results,
      (results) => results.length >= count,
    );
  /** Makes what waits for a later attempt due now. */
  async function hurry(): Promise<void> {
    await test.database.raw('UPDATE work SET due_at = svc_now() WHERE project_id = $1 AND state = 0', [
      one.projectId,
    ]);
    await test.database.raw(
      'INSERT INTO wake (project_id, lane_id, due_at) SELECT DISTINCT project_id, lane_id, svc_now() FROM work WHERE project_id = $1',
      [one.projectId],
    );
  }

  return {
    test,
    two,
    call,
    must,
    receive,
    create,
    keyOf,
    queue,
    list,
    withStatus,
    hurry,
    async close(): Promise<void> {
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await two.stop();
      await one.stop();
      await test.drop();
    },
  };
}
