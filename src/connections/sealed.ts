import { sealedCredentials } from './credentials/index.ts';
import { sealedVerifiers } from './oauth/index.ts';

/** What this room stores under the master keys. */
export const sealedConnectionColumns = [sealedCredentials, sealedVerifiers];
