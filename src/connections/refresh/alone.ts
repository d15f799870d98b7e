import type { Ground } from '../../kit/ground.ts';
import { problem } from '../../kit/problem.ts';
import { sleep } from '../../kit/retry.ts';
import { openIfReadable } from '../credentials/index.ts';
import type { BroughtToken, TokenHold } from '../proof/index.ts';
import { readConnections, type ConnectionKey } from '../store.ts';
import { patienceMs, takeLease, type Lease } from './lease.ts';
import { listRefreshable, type Refreshable } from './store.ts';

const waitFirstMs = 100;
const waitMostMs = 1_000;

/**
 * Holds a refresh token that was brought, where connections have it: waits for their refreshes that are under way, and lets none
 * begin until the hold ends. Throws credentials-rejected when the token was used while it was waited for.
 */
export async function holdToken(ground: Ground, brought: BroughtToken): Promise<TokenHold> {
  const giveUpAt = performance.now() + patienceMs;
  let known: Refreshable[] = [];
  for (let pauseMs = waitFirstMs; ; pauseMs = Math.min(waitMostMs, pauseMs * 2)) {
    const before = known.map(keyOf);
    known = (await listRefreshable(ground.database, brought, before)).filter((row) =>
      has(ground, row, brought),
    );
    const left = before.filter(([, id]) => known.every((row) => row.id !== id));
    if (await wasUsed(ground, left)) throw usedMeanwhile();
    const leases = await takeAll(ground, known);
    if (leases) return holdOf(ground, leases);
    if (performance.now() > giveUpAt)
      throw problem('provider-unreachable', {
        detail: 'A connection that has this refresh token has been refreshed for too long.',
      });
    await sleep(pauseMs);
  }
}

const keyOf = ({ project_id: projectId, id }: Refreshable): ConnectionKey => [projectId, id];

function has({ vault }: Ground, row: Refreshable, { refreshToken }: BroughtToken): boolean {
  const secrets = openIfReadable(vault, ...keyOf(row), row.credentials);
  return secrets !== undefined && 'refreshToken' in secrets && secrets.refreshToken === refreshToken;
}

/** Of connections that had the token: one that lives has another by now. */
async function wasUsed({ database }: Ground, keys: ConnectionKey[]): Promise<boolean> {
  if (keys.length === 0) return false;
  return (await readConnections(database, keys)).some(({ status }) => status !== 'bad_credentials');
}

const usedMeanwhile = (): Error =>
  problem('credentials-rejected', {
    detail: 'The refresh token was just used to refresh a connection that has it; nothing was sent.',
    remedy: 'Go on with that connection, or read its tokens and send those.',
  });

/** In the order of the list, so that two who want the same come one after the other. */
async function takeAll(ground: Ground, rows: readonly Refreshable[]): Promise<Lease[] | undefined> {
  const leases: Lease[] = [];
  for (const row of rows) {
    const lease = await takeLease(ground.database, keyOf(row), { generation: row.generation });
    if (!lease) {
      await giveBack(ground, leases);
      return undefined;
    }
    leases.push(lease);
  }
  return leases;
}

function holdOf(ground: Ground, leases: readonly Lease[]): TokenHold {
  for (const lease of leases) lease.keep();
  return {
    holds: () => leases.every((lease) => lease.holds()),
    end: () => giveBack(ground, leases),
  };
}

async function giveBack({ log }: Ground, leases: readonly Lease[]): Promise<void> {
  for (const lease of leases)
    await lease.giveBack().catch((err: unknown) => {
      log.warn({ err }, 'a refresh lease could not be given back; it ends by itself');
    });
}
