export { jwtBearerGrant } from './assertion.ts';
export { clientCredentialsGrant, passwordGrant, refreshGrant } from './grants.ts';
export { createNewTokens, untilStored, type Begun, type NewTokens, type Waiting } from './new-tokens.ts';
export { asCustomers, refusalOf } from './refusal.ts';
export { requestToken, tokenTimeoutMs, type Granted, type TokenClient, type TokenGrant } from './token.ts';
