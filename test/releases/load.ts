import { Agent, request } from 'undici';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClientLedger, runCaller, type Tally } from '../faults/suite/callers.ts';
import type { Settings } from '../faults/suite/settings.ts';
import { createCaller, type Seeded } from '../faults/suite/workload.ts';
import type { Customer } from '../customer.ts';

/** What the callers reach, through the load balancer. */
export interface Surface {
  api: string;
  proxy: string;
  projectId: string;
  apiKey: string;
  seeded: Seeded;
  customer: Customer;
}

export interface Load {
  client: ReturnType<typeof createClientLedger>;
  /** What callers met that they must not meet, by kind. */
  errors: Record<string, number>;
  counts: { proxied: number; listed: number };
  /** Operations of reads. */
  reads: string[];
  end(): Promise<void>;
}

const others = {
  proxied: { callers: 2, pauseMs: 40 },
  listed: { callers: 1, pauseMs: 150 },
  read: { callers: 1, pauseMs: 700 },
};

/** Writes of every route, calls through the proxy, reads on demand and looks at operations, until it is ended. */
export function startLoad(surface: Surface, settings: Settings, ledgerFile: string): Load {
  const { api, proxy, projectId, apiKey, seeded, customer } = surface;
  const client = createClientLedger(ledgerFile);
  const tally: Tally = { unanswered: 0, replayed: 0, refused: {} };
  const errors: Record<string, number> = {};
  const counts = { proxied: 0, listed: 0 };
  const reads: string[] = [];
  const agent = new Agent({ connections: 8 });
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;

  async function ask(
    url: string,
    init: { method?: 'POST'; headers?: Record<string, string>; body?: string } = {},
  ): Promise<string> {
    const answer = await request(url, {
      ...init,
      dispatcher: agent,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...init.headers },
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text.slice(0, 200)}`);
    return text;
  }
  const calls: Record<keyof typeof others, () => Promise<void>> = {
    proxied: async () => {
      await ask(`${proxy}/crm/v3/objects/contacts?limit=1`, {
        headers: {
          'x-svc-proxy-version': '1',
          'x-svc-project-id': projectId,
          'x-svc-installation-id': customer.installationId,
        },
      });
      counts.proxied += 1;
    },
    listed: async () => {
      await ask(`${api}/v1/projects/${projectId}/operations?pageSize=20`);
      counts.listed += 1;
    },
    read: async () => {
      const body = JSON.stringify({ groupRef: customer.groupRef, mode: 'async' });
      const path = `/read/v1/projects/${projectId}/integrations/hubspot-crm/objects/deals`;
      const { operationId } = JSON.parse(await ask(api + path, { method: 'POST', body })) as {
        operationId: string;
      };
      reads.push(operationId);
    },
  };
  const note = (what: string): void => {
    errors[what] = (errors[what] ?? 0) + 1;
  };
  const writing = Array.from({ length: settings.callers }, (_, at) =>
    runCaller(
      createCaller(at, settings, seeded),
      { nodes: [api], projectId, apiKey },
      client,
      tally,
      isOver,
      settings.pauseMs,
    ),
  );
  const asking = Object.entries(others).flatMap(([kind, { callers, pauseMs }]) =>
    Array.from({ length: callers }, async () => {
      while (!isOver()) {
        await calls[kind as keyof typeof others]().catch((error: unknown) =>
          note(`${kind}: ${String(error)}`),
        );
        await sleep(pauseMs);
      }
    }),
  );
  return {
    client,
    errors,
    counts,
    reads,
    async end() {
      over.abort();
      await Promise.all([...writing, ...asking]);
      await agent.close();
      for (const [what, count] of Object.entries(tally.refused)) errors[`written: ${what}`] = count;
    },
  };
}
