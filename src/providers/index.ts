export { loadCatalog, type Catalog, type CatalogOptions } from './catalog.ts';
export type {
  Association,
  Connector,
  CurrentFields,
  CurrentFieldsAbility,
  DescribeAbility,
  ObjectDescription,
  ProviderClient,
  ProviderRequest,
  RecordOutcome,
  SampleReadAbility,
  WriteAbility,
  WriteCall,
  WriteKind,
  WriteRecord,
} from './connector.ts';
export { abilitiesOf, connectorOf, type Abilities } from './connectors.ts';
export { credentialHeaders, type ClearCredential, type CredentialPlace } from './credential.ts';
export {
  failureOfRead,
  failureOfTransport,
  retryAfterMs,
  unknownOutcome,
  withoutSecrets,
  type Failure,
  type FailureCategory,
} from './failure.ts';
export { isForwardable, isHeaderValue } from './headers.ts';
export { providerInfo, supportOf } from './info.ts';
export type { Provider } from './provider.ts';
export { FieldMetadata, ProviderInfo } from './schema.ts';
export {
  baseUrlOf,
  healthCheckUrlOf,
  providerUrl,
  resolveTemplate,
  type ConnectionPlace,
} from './template.ts';
export { judgeTokenError, type TokenErrorMeaning } from './token-error.ts';
