import './problems.ts';
export { fieldLevels } from './answer.ts';
export { loadCatalog, type Catalog } from './catalog.ts';
export type {
  AssociatedRecord,
  Association,
  AssociationsOf,
  Connector,
  CurrentFields,
  CurrentFieldsAbility,
  DescribeAbility,
  ObjectDescription,
  ProviderClient,
  ProviderExchange,
  ProviderRequest,
  ReadAbility,
  ReadAssociationsAbility,
  ReadPage,
  ReadQuery,
  ReadRecord,
  RecordOutcome,
  ResolveAbility,
  StandingRecord,
  UniqueField,
  WriteCall,
  WriteKind,
} from './connector.ts';
export {
  abilitiesOf,
  canonicalIdOf,
  connectorOf,
  formsOfId,
  isFieldAt,
  type Abilities,
} from './connectors.ts';
export { credentialHeaders, type ClearCredential } from './credential.ts';
export { addressInputsOf } from './contradictions.ts';
export {
  failureOfRead,
  failureOfTransport,
  longestWaitMs,
  httpDateOf,
  retryAfterMs,
  unknownOutcome,
  withoutSecrets,
  type Failure,
  type FailureCategory,
  withheld,
} from './failure.ts';
export { isForwardable, isHeaderValue } from './headers.ts';
export { providerInfo } from './info.ts';
export type { Provider } from './provider.ts';
export { faultOfFilterValue, fieldNamed, timeTextOf } from './read.ts';
export { sampleRead } from './sample.ts';
export { ProviderInfo } from './schema.ts';
export {
  notAllowed,
  baseUrlOf,
  healthCheckUrlOf,
  providerUrl,
  signInUrlsOf,
  valuesOf,
  workspaceNeeded,
  workspaceOfInstance,
  type ConnectionPlace,
} from './template.ts';
export { judgeTokenError } from './token-error.ts';
