import type { Ground } from '../../kit/ground.ts';
import { baseUrlOf, type Provider } from '../../providers/index.ts';
import { credentialOf, placeOf, type Secrets } from '../credentials/index.ts';
import type { AuthScheme, ProviderMetadata } from '../schema.ts';
import type { Granted } from '../tokens/index.ts';
import { askAccount, type Account } from './account.ts';
import { checkHealth, type Doubt, type Health } from './health.ts';

/** Credentials that somebody brought, before they are tried at the provider. */
export interface Claim {
  provider: Provider;
  authScheme: AuthScheme;
  secrets: Secrets;
  providerAppId?: string | undefined;
  /** What was asked for; what the provider granted goes before. */
  scopes?: string[] | undefined;
  /** The answer that brought the tokens; missing for what the caller had. */
  granted?: Granted;
  /** What the redirect of a browser told, besides. */
  told?: Account;
  /** What is left of an access token that the caller had. */
  expiresInMs?: number;
  /** The account that the caller named, and the inputs that make its address. */
  asked: { workspaceRef?: string | undefined; metadata: ProviderMetadata };
  account: AccountRule;
}

/** Whose word says which account is connected. */
export interface AccountRule {
  /** What need not be asked for, after what the provider said by itself. */
  known(learned: Account): Account;
  /** The account that is connected; throws when it may not be the one that was found. */
  settled(found: Account): Account;
}

/** Credentials after the trial, as they are stored. */
export interface Proven {
  provider: Provider;
  secrets: Secrets;
  providerAppId: string | undefined;
  workspaceRef: string | undefined;
  providerConsumerRef: string | undefined;
  authScheme: AuthScheme;
  providerMetadata: ProviderMetadata;
  scopes: string[] | undefined;
  issuedAgoMs: number | undefined;
  expiresInMs: number | undefined;
  status: 'working' | 'created';
  /** What speaks against storing them, and at which of the two questions it was found. */
  doubt?: Doubt & { about: 'account' | 'health' };
}

/**
 * Tries credentials at the provider: whose account they open, whether that is at an address of the provider, and whether
 * they work. Throws for a foreign address and an account that may not be connected; any other doubt is part of the answer.
 */
export async function prove(ground: Ground, claim: Claim): Promise<Proven> {
  const { provider, secrets, asked } = claim;
  const known = claim.account.known(learnedOf(claim));
  const place = placeOf(provider, asked.workspaceRef, { ...asked.metadata, ...known.metadata });
  const found = await askAccount(ground, provider, place, secrets, known);
  if ('kind' in found) return { ...provenAs(claim, known), doubt: { ...found, about: 'account' } };
  const account = claim.account.settled(found);
  const { workspaceRef, metadata } = account;
  const settledPlace = placeOf(provider, workspaceRef, metadata);
  // Throws for an API address that is not one of the provider's.
  baseUrlOf(provider, settledPlace);
  const row = { workspace_ref: workspaceRef ?? null, provider_metadata: metadata, generation: 0 };
  const health = await checkHealth(ground, provider, settledPlace, credentialOf(provider, row, secrets));
  const proven = provenAs(claim, account);
  if (isDoubt(health)) return { ...proven, doubt: { ...health, about: 'health' } };
  return { ...proven, status: health.kind === 'works' ? 'working' : 'created' };
}

/** What is known without a trial, for the claim whose trial did not come to an end. */
export function unproven(claim: Claim, message: string): Proven {
  const known = claim.account.known(learnedOf(claim));
  return { ...provenAs(claim, known), doubt: { kind: 'unsure', message, about: 'account' } };
}

function isDoubt(health: Health): health is Doubt {
  return health.kind === 'rejected' || health.kind === 'unsure';
}

function learnedOf({ granted, told }: Claim): Account {
  const { answer } = granted ?? {};
  return {
    workspaceRef: answer?.workspaceRef ?? told?.workspaceRef,
    consumerRef: answer?.consumerRef,
    metadata: { ...told?.metadata, ...answer?.metadata },
  };
}

function provenAs(claim: Claim, { workspaceRef, consumerRef, metadata }: Account): Proven {
  const { granted } = claim;
  const agoMs = granted ? performance.now() - granted.askedAt : 0;
  const lifeMs = granted ? granted.answer.expiresInMs : claim.expiresInMs;
  return {
    provider: claim.provider,
    secrets: claim.secrets,
    providerAppId: claim.providerAppId,
    workspaceRef,
    providerConsumerRef: consumerRef,
    authScheme: claim.authScheme,
    providerMetadata: metadata,
    scopes: granted?.answer.scopes ?? claim.scopes,
    issuedAgoMs: granted ? agoMs : undefined,
    expiresInMs: lifeMs === undefined ? undefined : lifeMs - agoMs,
    status: 'created',
  };
}
