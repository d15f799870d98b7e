import type { Queryable } from '../../kit/db/database.ts';
import type { Vault } from '../../kit/vault.ts';
import type { Provider } from '../../providers/index.ts';
import { openIfReadable, type Secrets } from '../credentials/index.ts';
import { listOwnConnections, type Person } from '../owner-store.ts';
import type { ConnectionKey, ConnectionRow } from '../store.ts';
import { isComplete } from './account.ts';
import type { Proven } from './prove.ts';

/** One of the connections that a person has at a provider, as far as it decides where new credentials belong. */
export interface OwnConnection {
  id: string;
  account: Account;
  mayWork: boolean;
  /** Its tokens were set aside: nothing uses them. */
  isAside: boolean;
  /** It has the refresh token that was brought. */
  holds: boolean;
}

interface Account {
  workspaceRef: string | undefined;
  /** The provider would say more of it, and did not. */
  isOpen: boolean;
}

type Told = Pick<Proven, 'workspaceRef' | 'providerConsumerRef' | 'providerMetadata'>;

/** The person's connections at the provider: those that may work first, and of them the newest. */
export async function ownConnections(
  vault: Vault,
  tx: Queryable,
  person: Person,
  { provider, refreshToken }: { provider: Provider; refreshToken: string | undefined },
): Promise<OwnConnection[]> {
  const rows = await listOwnConnections(tx, person);
  const holds = ({ id, credentials }: (typeof rows)[number]): boolean =>
    refreshToken !== undefined && hasToken(vault, [person.projectId, id], credentials, refreshToken);
  return rows.map((row) => ({
    id: row.id,
    account: accountOf(provider, {
      workspaceRef: row.workspace_ref ?? undefined,
      providerMetadata: row.provider_metadata,
    }),
    mayWork: row.may_work,
    isAside: row.is_aside,
    holds: holds(row),
  }));
}

/** The connection that new credentials belong to: it had the refresh token that was brought, or is of their account. */
export function knownOf(own: readonly OwnConnection[], account: Account): string | undefined {
  return holderOf(own, account) ?? used(own).find((one) => isSame(one.account, account))?.id;
}

/** A connection that may be of the account of tokens of which the provider did not say it. */
export function besideOf(own: readonly OwnConnection[], account: Account): string | undefined {
  const isUnknown = account.isOpen && account.workspaceRef === undefined;
  if (!isUnknown || holderOf(own, account) !== undefined) return undefined;
  return own.find(({ mayWork }) => mayWork)?.id;
}

/** One authorization may open several accounts: of two that are known none is taken for the other. */
function holderOf(own: readonly OwnConnection[], account: Account): string | undefined {
  const holders = used(own).filter(({ holds }) => holds);
  const same = holders.find((one) => isSame(one.account, account));
  return (same ?? holders.find((one) => one.account.isOpen || account.isOpen))?.id;
}

const used = (own: readonly OwnConnection[]): OwnConnection[] => own.filter(({ isAside }) => !isAside);

const isSame = (one: Account, other: Account): boolean => one.workspaceRef === other.workspaceRef;

export function accountOf(
  { postAuth }: Provider,
  { workspaceRef, providerMetadata: metadata }: Omit<Told, 'providerConsumerRef'>,
): Account {
  return {
    workspaceRef,
    isOpen: postAuth !== undefined && !isComplete(postAuth, { workspaceRef, metadata }),
  };
}

/** What the provider told of the account once, where it did not tell it now. */
export function rememberedOf(provider: Provider, row: ConnectionRow, found: Told): Told {
  const before = toldBy(row);
  if (isElsewhere(provider, row, found)) return before;
  if (isOther(before, found)) return found;
  const asked = (provider.postAuth?.otherFields ?? []).flatMap(({ name }) => {
    const item = before.providerMetadata[name];
    return item ? [[name, item] as const] : [];
  });
  return {
    workspaceRef: before.workspaceRef,
    providerConsumerRef: found.providerConsumerRef ?? before.providerConsumerRef,
    providerMetadata: { ...Object.fromEntries(asked), ...found.providerMetadata },
  };
}

/** Another account was asked for than the one that the connection is known to be of. */
export function isElsewhere(provider: Provider, row: ConnectionRow, found: Told): boolean {
  const before = toldBy(row);
  return isOther(before, found) && !accountOf(provider, before).isOpen;
}

const isOther = (before: Told, { workspaceRef }: Told): boolean =>
  workspaceRef !== undefined && workspaceRef !== before.workspaceRef;

function toldBy(row: ConnectionRow): Told {
  return {
    workspaceRef: row.workspace_ref ?? undefined,
    providerConsumerRef: row.provider_consumer_ref ?? undefined,
    providerMetadata: row.provider_metadata,
  };
}

/** What cannot be read here is taken for another token. */
export function hasToken(
  vault: Vault,
  [projectId, id]: ConnectionKey,
  credentials: Buffer,
  refreshToken: string,
): boolean {
  const secrets = openIfReadable(vault, projectId, id, credentials);
  return secrets !== undefined && refreshTokenOf(secrets) === refreshToken;
}

export const refreshTokenOf = (secrets: Secrets): string | undefined =>
  'refreshToken' in secrets ? secrets.refreshToken : undefined;
