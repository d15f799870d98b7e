import type { Ground } from '../../kit/ground.ts';
import { problem } from '../../kit/problem.ts';
import { sleep } from '../../kit/retry.ts';
import { Turns } from '../../kit/turns.ts';
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
    known = await holders(ground, brought, before);
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

/** Those that have the token. */
async function holders(
  { database, vault }: Ground,
  brought: BroughtToken,
  before: readonly ConnectionKey[],
): Promise<Refreshable[]> {
  const turns = new Turns();
  const found: Refreshable[] = [];
  for (const row of await listRefreshable(database, brought, before)) {
    const secrets = openIfReadable(vault, ...keyOf(row), row.credentials);
    if (secrets && 'refreshToken' in secrets && secrets.refreshToken === brought.refreshToken)
      found.push(row);
    await turns.pass();
  }
  return found;
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
  try {
    for (const row of rows) {
      const lease = await takeLease(ground.database, keyOf(row), { generation: row.generation });
      if (!lease) break;
      leases.push(lease);
    }
  } catch (error) {
    await giveBack(ground, leases);
    throw error;
  }
  if (leases.length === rows.length) return leases;
  await giveBack(ground, leases);
  return undefined;
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
