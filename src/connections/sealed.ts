import { sealedVerifiers } from './oauth/flow-store.ts';
import { sealedCredentials } from './credentials/secrets.ts';

/** What this room stores under the master keys. */
export const sealedConnectionColumns = [sealedCredentials, sealedVerifiers];
