export {
  badCredentials,
  clearOf,
  credentialOf,
  deadCredentials,
  refreshMarginMs,
  refusedForNow,
  restMs,
  takeBack,
  type Credential,
} from './credential.ts';
export { captured, isObject, jsonFrom, keptFrom, textAt, valueAt } from './kept.ts';
export { mergeMetadata, placeOf, withWorkspace } from './metadata.ts';
export {
  canRenew,
  hasAccessToken,
  openIfReadable,
  openSecrets,
  sealSecrets,
  SealedSecrets,
  sealedCredentials,
  type AssertionKey,
  type Secrets,
} from './secrets.ts';
