import { Agent } from 'undici';
import { sendHttp } from '../../../kit/http/client.ts';
import { connectorOf, type Connector, type ProviderClient } from '../../../providers/index.ts';
import type { AttemptContext } from './attempt.ts';
import { createDescriptions } from '../../descriptions.ts';

/** One request as the simulator received it. */
export interface SeenRequest {
  seq: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface SeenEffect {
  kind: string;
  object: string;
  id: string;
  fields?: Record<string, unknown>;
}

/** A provider with our connector for it. */
export interface Simulated {
  connector: Connector;
  client: ProviderClient;
  control<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body>;
  /** The next matching request meets the fault. */
  fault(rule: Record<string, unknown>): Promise<void>;
  /** What it was asked and what it did while the work was done. */
  during<Result>(
    work: () => Promise<Result>,
  ): Promise<{ result: Result; requests: SeenRequest[]; effects: SeenEffect[] }>;
  /** The context of one attempt; descriptions are read anew for each. */
  context(objectName: string, more?: Partial<AttemptContext>): AttemptContext;
  close(): Promise<void>;
}

/** Starts the provider's simulator. */
export type StartSimulator = (options: { records: number }) => Promise<{
  url: string;
  close(): Promise<void>;
}>;

export async function startSimulated(
  provider: 'hubspot' | 'salesforce',
  start: StartSimulator,
  callTimeoutMs = 1_000,
): Promise<Simulated> {
  const simulator = await start({ records: 5 });
  const egress = new Agent();
  const ours = connectorOf(provider);
  if (!ours?.resolve) throw new Error(`no connector for ${provider}`);
  // A simulator has done what it does by the time it breaks a connection.
  const connector: Connector = {
    ...ours,
    resolve: { ...ours.resolve, settleMs: 50, longestRequestMs: 10_000 },
  };

  const control: Simulated['control'] = async <Body>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${simulator.url}/__sim${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Body;
  };
  if (provider === 'hubspot') await control('POST', '/quotas', { burstMax: null });
  // Longer than any test moves the clock.
  const { accessToken } = await control<{ accessToken: string }>('POST', '/tokens', {
    action: 'issue',
    expiresInMs: 86_400_000,
  });
  const client: ProviderClient = {
    send: ({ method, path, headers, body }) =>
      sendHttp(
        egress,
        {
          method,
          url: simulator.url + path,
          headers: {
            authorization: `Bearer ${accessToken}`,
            'content-type': 'application/json',
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        { timeoutMs: callTimeoutMs },
      ),
  };
  const requestsSince = async (seq: number): Promise<SeenRequest[]> =>
    (await control<{ requests: SeenRequest[] }>('GET', `/requests?since=${seq}`)).requests;
  const effectsSince = async (seq: number): Promise<(SeenEffect & { seq: number })[]> =>
    (await control<{ effects: (SeenEffect & { seq: number })[] }>('GET', `/effects?since=${seq}`)).effects;

  return {
    connector,
    client,
    control,
    fault: async (rule) => void (await control('POST', '/faults', rule)),
    async during(work) {
      const requestSeq = (await requestsSince(0)).at(-1)?.seq ?? 0;
      const effectSeq = (await effectsSince(0)).at(-1)?.seq ?? 0;
      const result = await work();
      return { result, requests: await requestsSince(requestSeq), effects: await effectsSince(effectSeq) };
    },
    context(objectName, more = {}) {
      const descriptions = createDescriptions();
      return {
        connector,
        client,
        mayStillSend: () => true,
        isRepeat: false,
        describe: () => descriptions.of({ projectId: 'p', connectionId: 'c' }, objectName, connector, client),
        signal: new AbortController().signal,
        tries: 3,
        ...more,
      };
    },
    async close() {
      await egress.close();
      await simulator.close();
    },
  };
}
