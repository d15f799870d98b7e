import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../simulator/kit/random.ts';
import { startReceiver, type Receiver } from '../faults/messages/receiver.ts';
import { patiently, platformAt } from '../faults/suite/processes.ts';
import { groups } from '../faults/suite/settings.ts';
import type { RunOptions } from '../faults/suite/run.ts';
import type { Stage } from '../faults/suite/stage.ts';

const proxied = {
  'hubspot-crm': '/crm/v3/objects/contacts?limit=5',
  'salesforce-crm': '/services/data/v60.0/sobjects/Contact/describe',
} as const;
const proxyPauseMs = 100;
/** Each reads what changed in the last `readPeriodMs`. */
const readPauseMs = 15_000;
const readPeriodMs = 60_000;
const patienceMs = 10_000;

/** What was done beside the writes. */
export interface BesideTally {
  /** Calls through the proxy that the provider answered with success. */
  proxied: number;
  /** Reads on demand that were accepted. */
  reads: number;
  /** All others, by what came of them. */
  failed: { proxied: Record<string, number>; reads: Record<string, number> };
  messages: () => number;
  /** What must not be so; empty where all holds. */
  problems(): string[];
}

/** Reads on a schedule and on demand into a webhook, and calls through the proxy, while others write. */
export function createBeside(seed: number): { beside: Required<RunOptions>['beside']; tally: BesideTally } {
  let receiver: Receiver | undefined;
  const tally: BesideTally = {
    proxied: 0,
    reads: 0,
    failed: { proxied: {}, reads: {} },
    messages: () => receiver?.arrivals.size ?? 0,
    problems: () => problemsOf(tally, receiver),
  };
  async function beside(stage: Stage, over: () => boolean): Promise<void> {
    const opened = await startReceiver({ endpoints: 1, faultRate: 0.05, seed });
    receiver = opened;
    stage.closing.push(() => opened.close());
    await readAll(stage, opened);
    const random = createRandom(seed, 'beside');
    await Promise.all([callOften(stage, random, tally, over), readOften(stage, random, tally, over)]);
  }
  return { beside, tally };
}

function problemsOf(
  { proxied: answered, failed, reads, messages }: BesideTally,
  receiver?: Receiver,
): string[] {
  const others = Object.values(failed.proxied).reduce((sum, one) => sum + one, 0);
  return [
    ...(answered > others ? [] : [`${answered} proxied calls were answered, ${others} were not`]),
    ...(reads > 0 ? [] : ['nothing was read']),
    ...(messages() > 0 ? [] : ['no message of a read came']),
    ...(receiver?.unverified ?? []).slice(0, 5).map((what) => `a signature does not hold: ${what}`),
    ...(receiver?.changed ?? []).slice(0, 5).map((id) => `the message ${id} came with two bodies`),
  ];
}

/** Makes the destination, and has every customer of HubSpot read into it. */
async function readAll(stage: Stage, { urls: [url], signingKey }: Receiver): Promise<void> {
  const { apiKey, hubspot, projectId } = stage;
  const platform = await platformAt(stage.nodes[0]?.base ?? '', apiKey, { hubspot });
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await platform.call<unknown>(method, `/projects/${projectId}${path}`, body);
    // Refused as there already: the answer to the first try was lost.
    if (answer.status < 300 || answer.status === 409) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  };
  const secrets = { webhookSigningKey: signingKey };
  const destination = { name: 'hook', type: 'webhook', metadata: { url }, secrets };
  await patiently(() => ask('POST', '/destinations', destination));
  const path = '/integrations/hubspot-crm/installations';
  const found = (await patiently(() => ask('GET', path))) as { id: string }[];
  for (const { id } of found)
    await patiently(() =>
      ask('PATCH', `${path}/${id}?skipSampling=true`, {
        updateMask: ['config.content.read.objects.contacts'],
        installation: {
          config: { content: { read: { objects: { contacts: { objectName: 'contacts' } } } } },
        },
      }),
    );
}

async function callOften(
  { nodes, apiKey, projectId }: Stage,
  random: Random,
  tally: BesideTally,
  over: () => boolean,
): Promise<void> {
  while (!over()) {
    const integration = random.pick(['hubspot-crm', 'salesforce-crm'] as const);
    const headers = {
      'x-api-key': apiKey,
      'x-svc-proxy-version': '1',
      'x-svc-project-id': projectId,
      'x-svc-integration-name': integration,
      'x-svc-group-ref': `group-${random.int(groups)}`,
    };
    const said = await sent(random.pick(nodes).proxy + proxied[integration], { headers });
    if (said === '200') tally.proxied += 1;
    else count(tally.failed.proxied, said);
    await sleep(random.int(2 * proxyPauseMs));
  }
}

async function readOften(
  { nodes, apiKey, projectId }: Stage,
  random: Random,
  tally: BesideTally,
  over: () => boolean,
): Promise<void> {
  for (let rest = 0; !over(); rest -= 1) {
    await sleep(1_000);
    if (rest > 0) continue;
    rest = (2 * random.int(readPauseMs)) / 1_000;
    const path = `/read/v1/projects/${projectId}/integrations/hubspot-crm/objects/contacts`;
    const said = await sent(random.pick(nodes).base + path, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        groupRef: `group-${random.int(groups)}`,
        mode: 'async',
        sinceTimestamp: new Date(Date.now() - readPeriodMs).toISOString(),
      }),
    });
    if (said === '201') tally.reads += 1;
    else count(tally.failed.reads, said);
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** The status of the answer, once all of it came. */
async function sent(url: string, init: RequestInit): Promise<string> {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
    await answer.arrayBuffer();
    return String(answer.status);
  } catch {
    return 'no answer';
  }
}
