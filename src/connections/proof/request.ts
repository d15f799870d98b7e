import { faultOf } from '../../kit/db/faults.ts';
import type { Ground } from '../../kit/ground.ts';
import { Problem, problem } from '../../kit/problem.ts';
import type { Provider } from '../../providers/index.ts';
import { mergeMetadata } from '../credentials/index.ts';
import type { ConnectionRequest } from '../schema.ts';
import { untilStored, type NewTokens, type Waiting } from '../tokens/index.ts';
import { assertAddresses } from './address.ts';
import { assertBlockFits, schemeOf } from './blocks.ts';
import { draftOf, refreshImported, type DraftDeps, type TokenHold } from './draft.ts';
import { keep, type Keeping, type Tried } from './keep.ts';
import { prove, unproven, type AccountRule, type Claim } from './prove.ts';

export interface ProofDeps extends DraftDeps {
  newTokens: NewTokens;
}

/**
 * Connects with the credentials that a request carries and returns the connection's id. Throws auth-scheme-mismatch for
 * another block than the provider's, credentials-rejected when they do not work, provider-unreachable when nobody could tell.
 * What can be found without the provider is found before a token is used.
 */
export async function connectWith(
  deps: ProofDeps,
  projectId: string,
  provider: Provider,
  request: ConnectionRequest,
  whose: Omit<Keeping, 'despite' | 'spent'>,
): Promise<string> {
  const block = assertBlockFits(provider, request);
  const asked = { workspaceRef: request.providerWorkspaceRef, metadata: request.providerMetadata ?? {} };
  assertAddresses(provider, asked);
  const bringer = { projectId, groupRef: whose.owner.groupRef };
  const { hold, ...draft } = await draftOf(deps, bringer, provider, request, block);
  const authScheme = schemeOf(provider, block);
  const claim: Claim = { provider, authScheme, asked, account: asRequested(asked), ...draft };
  const refreshToken = request.oauth2AuthorizationCode?.refreshToken?.token;
  if (hold && refreshToken !== undefined)
    return keepNew(deps, projectId, claim, { ...whose, spent: refreshToken }, hold);
  const proven = await prove(deps.ground, claim);
  const { doubt } = proven;
  if (doubt?.kind === 'rejected' && !doubt.ofRequest && refreshToken !== undefined) {
    // An imported access token may be over while its refresh token lives.
    const renewed = await refreshImported(deps, bringer, provider, request, refreshToken);
    const { hold: held, ...drafted } = renewed;
    return keepNew(deps, projectId, { ...claim, ...drafted }, { ...whose, spent: refreshToken }, held);
  }
  return keep(deps.ground, projectId, proven, { ...whose, despite: 'none' });
}

/**
 * Keeps what came for a refresh token that was used, whatever its trial meets and however long the database is away: the
 * provider may have ended the token.
 */
async function keepNew(
  { ground, newTokens }: ProofDeps,
  projectId: string,
  claim: Claim,
  whose: Omit<Keeping, 'despite'>,
  hold: TokenHold,
): Promise<string> {
  const details = { projectId, provider: claim.provider.name, groupRef: whose.owner.groupRef };
  const keeping: Keeping = { ...whose, despite: 'any' };
  const tryAndStore = async (waiting: Waiting): Promise<string> => {
    const proven = await prove(briefly(ground), claim).catch((error: unknown) => {
      ground.log.warn({ err: error, ...details }, 'imported tokens could not be tried');
      return unproven(claim, error instanceof Problem ? error.message : 'the trial did not come to an end');
    });
    const tried: Tried = {};
    const store = (): Promise<string> => keep(ground, projectId, proven, keeping, tried);
    return untilStored(waiting, store, (note) =>
      ground.log.warn({ ...note, ...details }, 'imported tokens could not be stored yet'),
    ).catch((error: unknown) => {
      // What was set aside is refused, and is not lost.
      if (faultOf(error) === 'unable' || !(error instanceof Problem))
        ground.log.error({ err: error, ...details }, 'imported tokens are lost');
      throw error;
    });
  };
  const { result } = newTokens.begin(async (waiting) => {
    try {
      return await tryAndStore(waiting);
    } finally {
      await hold.end();
    }
  }, waitsForDatabase);
  return result;
}

/** With two calls the trial ends before a node that ends waits no longer for new tokens. */
const trialCallMs = 4_000;

function briefly(ground: Ground): Ground {
  const providerCallMs = Math.min(ground.limits.providerCallMs, trialCallMs);
  return { ...ground, limits: { ...ground.limits, providerCallMs } };
}

/** They are stored later, unless the process ends before. */
const waitsForDatabase = (): Problem =>
  problem('database-unavailable', {
    detail:
      'The refresh token was used, and what came for it waits for the database: it is stored once that is there, unless the node ends before.',
    remedy:
      'Once other changes are made again, wait a minute and look for the connection. If there is none, the customer connects again.',
    retryable: false,
  });

/** The request says which account is meant; the provider completes it. */
function asRequested(asked: Claim['asked']): AccountRule {
  return {
    known: ({ workspaceRef, consumerRef, metadata }) => ({
      workspaceRef: asked.workspaceRef ?? workspaceRef,
      consumerRef,
      metadata: mergeMetadata(asked.metadata, metadata) ?? asked.metadata,
    }),
    settled: (found) => found,
  };
}
