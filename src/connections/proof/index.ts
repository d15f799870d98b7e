export type { Account } from './account.ts';
export type { BroughtToken, TokenHold } from './draft.ts';
export { schemeOf, type CredentialBlock } from './blocks.ts';
export { checkHealth } from './health.ts';
export { keep } from './keep.ts';
export { prove, type AccountRule } from './prove.ts';
export { connectWith, type ProofDeps } from './request.ts';
