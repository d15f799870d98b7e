import { startChild, untilSaid } from '../scripts/child.ts';
import { atEnd } from './at-end.ts';
import type { GroupTokens } from './install.ts';
import type { LoadTarget } from './load.ts';

/** The simulator of HubSpot in a process of its own, its quotas lifted, its ledger off. */
export interface Provider {
  origin: string;
  groups: GroupTokens[];
  /** The call that a write of `plainRecord` comes to. */
  create: LoadTarget;
  /** Records of an object, as the control of the simulator takes them. */
  put(object: string, records: readonly object[]): Promise<unknown>;
  /** From now on nearly every call is answered with 429. */
  throttle(): Promise<unknown>;
  close(): Promise<void>;
}

/** Without anything unique, so that the simulator takes it as often as it comes. */
export const plainRecord = { firstname: 'Some', lastname: 'One', phone: '+41 31 000 00 00' };

/** With tokens for so many groups; it answers after a millisecond. */
export async function startProvider(groups: number): Promise<Provider> {
  const child = startChild(['simulator/main.ts', 'hubspot', '--port', '0']);
  const close = atEnd(() => child.end());
  const [origin] = await untilSaid(child, /http\S+(?=\s)/);
  await control(origin, '/quotas', { burstMax: null, searchPerSecond: null });
  await control(origin, '/settings', { latencyMs: 1, ledger: false });
  const issued: GroupTokens[] = [];
  for (let n = 0; n < groups; n += 1) {
    const tokens = await control(origin, '/tokens', { action: 'issue', expiresInMs: 24 * 3_600_000 });
    issued.push({ groupRef: `g${n}`, accessToken: String(tokens['accessToken']) });
  }
  return {
    origin,
    groups: issued,
    create: {
      origin,
      path: '/crm/v3/objects/contacts',
      method: 'POST',
      headers: {
        authorization: `Bearer ${issued[0]?.accessToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ properties: plainRecord }),
      expect: 201,
    },
    put: (object, records) => control(origin, '/data', { object, records }),
    throttle: () => control(origin, '/quotas', { burstMax: 1 }),
    close,
  };
}

async function control(origin: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${origin}/__sim${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
