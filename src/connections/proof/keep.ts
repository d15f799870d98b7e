import { currentActor, record } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { newId } from '../../kit/ids.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import { hurry } from '../../lanes/index.ts';
import type { Provider } from '../../providers/index.ts';
import { asideWords } from '../aside.ts';
import { openWindow } from '../budget/index.ts';
import { sealSecrets } from '../credentials/index.ts';
import { saveOwner, type Owner, type Person } from '../owner-store.ts';
import {
  deleteConnection,
  holdConnection,
  holdSignedIn,
  insertConnection,
  readToldOf,
  replaceCredentials,
  type ConnectionContent,
  type ConnectionKey,
  type ConnectionRow,
} from '../store.ts';
import { refusalOfDoubt, type Doubt } from './health.ts';
import {
  accountOf,
  besideOf,
  hasToken,
  isElsewhere,
  knownOf,
  ownConnections,
  refreshTokenOf,
  rememberedOf,
  type OwnConnection,
} from './own.ts';
import type { Proven } from './prove.ts';

/** Whose the credentials are, and what may speak against them. */
export interface Keeping {
  owner: Owner;
  /** The connection that is renewed; without it, one of the same group, consumer and provider: of the account, or with the same refresh token. */
  connectionId?: string | undefined;
  /**
   * `unsure`: also when nobody could tell whether they work; `any`: whatever the provider said. Both only where no credentials
   * that may work give way.
   */
  despite: 'none' | 'unsure' | 'any';
  /** The refresh token that these came for, which may be over since: they are lost unless they are stored. */
  spent?: string | undefined;
}

/** What was stored, once that is committed. */
interface Kept {
  id: string;
  /** 0 of a new connection, which is there or is not. */
  signedInAt: number;
  /** They are set aside, and the connection that they were brought for keeps its own; or they are of another account than was asked for. */
  refusal?: Problem;
}

/** What earlier tries with the same credentials stored, if their answer was lost. */
export interface Tried {
  last?: Kept;
}

/**
 * Seals and stores what was proven and returns the connection's id. The same group, consumer, provider and account is the
 * same connection: its credentials are replaced and its id stays. So is one with the same refresh token, while the account of
 * one of both is not known. Throws credentials-rejected or provider-unreachable for a doubt that counts, and not-found when the
 * connection that is renewed is gone.
 */
export async function keep(
  ground: Ground,
  projectId: string,
  proven: Proven,
  keeping: Keeping,
  tried: Tried = {},
): Promise<string> {
  const { provider, doubt } = proven;
  if (doubt && !isTolerated(doubt, keeping.despite)) throw refusalOfDoubt(provider, doubt);
  const { id, refusal } = await ground.database.transaction(async (tx) => {
    await saveOwner(tx, projectId, keeping.owner, { mayRename: currentActor().kind !== 'jwt' });
    const stored = await storedBefore(tx, projectId, tried);
    return stored ?? (tried.last = await keepIn(ground, tx, projectId, proven, keeping));
  });
  if (refusal) throw refusal;
  return id;
}

/** A try whose answer was lost stored them if they are there, or those of a later sign-in. */
async function storedBefore(tx: Queryable, projectId: string, { last }: Tried): Promise<Kept | undefined> {
  const found = last && (await holdSignedIn(tx, [projectId, last.id]));
  return found && found.signedInAt >= last.signedInAt ? last : undefined;
}

async function keepIn(
  ground: Ground,
  tx: Queryable,
  projectId: string,
  { provider, secrets, doubt, ...rest }: Proven,
  { owner, connectionId, spent }: Keeping,
): Promise<Kept> {
  const described = { provider: provider.name, groupRef: owner.groupRef, credentials: secrets.kind };
  const contentFor = (id: string, more: Partial<ConnectionContent> = {}): ConnectionContent => ({
    ...rest,
    ...more,
    provider: provider.name,
    credentials: sealSecrets(ground.vault, projectId, id, secrets),
  });
  const made = async (more?: Partial<ConnectionContent>): Promise<Kept> => {
    const id = newId();
    await insertConnection(tx, [projectId, id], owner, contentFor(id, more));
    await recordSaved(tx, [projectId, id], 'connection.created', described);
    return { id, signedInAt: 0 };
  };
  const person = { projectId, owner, provider: provider.name };
  const brought = { provider, refreshToken: spent ?? refreshTokenOf(secrets) };
  const own = await ownConnections(ground.vault, tx, person, brought);
  const account = accountOf(provider, rest);
  const known = connectionId ?? knownOf(own, account);
  if (spent !== undefined || !doubt) await dropAside(tx, person, own, known);
  const held = doubt && known !== undefined ? await holdConnection(tx, [projectId, known]) : undefined;
  // Whoever names a connection has chosen between those of the person.
  const beside = connectionId === undefined ? besideOf(own, account) : undefined;
  const lives = held && mayWork(ground, held, spent) ? held.id : beside;
  if (doubt && lives) {
    if (spent === undefined || refreshTokenOf(secrets) === spent) throw refusalOfDoubt(provider, doubt);
    const aside = await made({ status: 'bad_credentials', statusDetail: asideOf(doubt), isAside: true });
    return { ...aside, refusal: refusedAside(provider, doubt, { id: aside.id, known: lives }) };
  }
  if (known === undefined) return made();
  const accountOpen = doubt?.about === 'account' ? held : undefined;
  const remembered = accountOpen ? rememberedOf(provider, accountOpen, rest) : {};
  const replaced = await replaceCredentials(tx, [projectId, known], contentFor(known, remembered));
  if (replaced === undefined) {
    if (connectionId === undefined) return made();
    throw problem('not-found', { detail: `There is no connection ${connectionId}.` });
  }
  await openWindow(tx, [projectId, known], replaced.generation);
  // What waited for better credentials, or for the limit of the old ones, goes on. The lane of a connection has its id.
  await hurry(tx, projectId, known);
  await recordSaved(tx, [projectId, known], 'connection.updated', described);
  const kept = { id: known, signedInAt: replaced.signedInAt };
  // What came for its refresh token is its own. Nobody must take it for a connection of the account that was asked for.
  if (doubt && accountOpen && connectionId === undefined && isElsewhere(provider, accountOpen, rest))
    return { ...kept, refusal: refusedElsewhere(provider, doubt, accountOpen, rest.workspaceRef) };
  return kept;
}

/** What was set aside is over once its refresh token was used again. It is not ended at the provider: what came for it lives. */
async function dropAside(
  tx: Queryable,
  { projectId, provider, owner }: Person,
  own: readonly OwnConnection[],
  known: string | undefined,
): Promise<void> {
  for (const { id, isAside, holds } of own) {
    if (!isAside || !holds || id === known) continue;
    const told = await deleteConnection(tx, [projectId, id]);
    const details = { provider, groupRef: owner.groupRef, mayBeUsedElsewhere: false };
    await record(tx, { projectId, action: 'connection.deleted', targetId: id, details, told });
  }
}

const asideOf = ({ message }: Doubt): string => `${asideWords} ${message}`;

/** The refusal of tokens that were set aside, which says where they are. */
function refusedAside(
  provider: Provider,
  doubt: Doubt,
  { id, known }: { id: string; known: string },
): Problem {
  const refusal = refusalOfDoubt(provider, doubt);
  return problem(refusal.code, {
    ...refusal.details,
    detail: `Connection ${known} keeps its credentials. The refresh token was used: what came for it is kept as connection ${id}, which nothing uses. ${refusal.message}`,
    remedy: `Read the tokens of connection ${id} and send them again when they will pass, or delete it.`,
    retryable: false,
  });
}

/** The refusal of an account of which nobody said that the tokens open it, which says what has them. */
function refusedElsewhere(
  provider: Provider,
  doubt: Doubt,
  { id, workspace_ref: workspaceRef }: ConnectionRow,
  asked: string | undefined,
): Problem {
  const refusal = refusalOfDoubt(provider, doubt);
  const its = workspaceRef ?? 'another account';
  return problem(refusal.code, {
    ...refusal.details,
    detail: `The refresh token was that of connection ${id} of ${its}, which has what came for it. Nothing was connected for ${asked}. ${refusal.message}`,
    remedy: `Go on with connection ${id} for ${its}, and let the customer connect ${asked} on its own.`,
    retryable: false,
  });
}

/** Whose account it is must be known, unless the credentials would be lost. */
function isTolerated(doubt: NonNullable<Proven['doubt']>, despite: Keeping['despite']): boolean {
  if (despite === 'unsure') return doubt.kind === 'unsure' && doubt.about === 'health';
  return despite === 'any';
}

/** Whether the connection has credentials that may work. They stay until others have passed their trial. */
function mayWork({ vault }: Ground, row: ConnectionRow, spent: string | undefined): boolean {
  if (row.status === 'bad_credentials') return false;
  if (spent === undefined) return true;
  return !hasToken(vault, [row.project_id, row.id], row.credentials, spent);
}

async function recordSaved(
  tx: Queryable,
  key: ConnectionKey,
  action: 'connection.created' | 'connection.updated',
  details: Record<string, unknown>,
): Promise<void> {
  const [projectId, targetId] = key;
  await record(tx, { projectId, action, targetId, details, told: await readToldOf(tx, key, action) });
}
