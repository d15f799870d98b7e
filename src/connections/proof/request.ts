import type { Provider } from '../../providers/index.ts';
import { mergeMetadata } from '../credentials/index.ts';
import type { ConnectionRequest } from '../schema.ts';
import { assertBlockFits, schemeOf } from './blocks.ts';
import { draftOf, refreshImported, type ProofDeps } from './draft.ts';
import { keep, type Keeping } from './keep.ts';
import { prove, type AccountRule, type Claim } from './prove.ts';

/**
 * Connects with the credentials that a request carries and returns the connection's id. Throws auth-scheme-mismatch for
 * another block than the provider's, credentials-rejected when they do not work, provider-unreachable when nobody could tell.
 */
export async function connectWith(
  deps: ProofDeps,
  projectId: string,
  provider: Provider,
  request: ConnectionRequest,
  whose: Omit<Keeping, 'despite' | 'spent'>,
): Promise<string> {
  const block = assertBlockFits(provider, request);
  const draft = await draftOf(deps, projectId, provider, request, block);
  const asked = { workspaceRef: request.providerWorkspaceRef, metadata: request.providerMetadata ?? {} };
  const authScheme = schemeOf(provider, block);
  const claim: Claim = { provider, authScheme, asked, account: asRequested(asked), ...draft };
  const proven = await prove(deps.ground, claim);
  const refreshToken = request.oauth2AuthorizationCode?.refreshToken?.token;
  if (proven.doubt?.kind === 'rejected' && refreshToken !== undefined && !draft.granted) {
    // An imported access token may be over while its refresh token lives.
    const renewed = await refreshImported(deps, projectId, provider, request, refreshToken);
    const second = await prove(deps.ground, { ...claim, ...renewed });
    return keep(deps.ground, projectId, second, { ...whose, despite: 'any', spent: refreshToken });
  }
  // A refresh token that was used may have been replaced: what came for it would be lost.
  const spent = draft.granted ? refreshToken : undefined;
  const despite = spent === undefined ? 'none' : 'any';
  return keep(deps.ground, projectId, proven, { ...whose, despite, spent });
}

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
