'use client';

export { SvcError } from '@svc/client';
export { SvcProvider, type SvcProviderProps } from './provider.tsx';
export type { GetToken, Person } from './tokens.ts';
export {
  useConnection,
  useInstallation,
  useIntegration,
  useIsIntegrationInstalled,
  useProviderInfo,
  type Answered,
} from './queries.ts';
export {
  useCreateInstallation,
  useDeleteInstallation,
  useUpdateInstallation,
  type Mutation,
} from './mutations.ts';
export { usePreviews, type Previews } from './previews.ts';
export { useConfig, useManifest, type FieldKind, type LocalConfig, type Manifest } from './config.ts';
export { mergeDrafts, planSave, type FormIssue, type Merge, type SavePlan } from '../state/save.ts';
export type { ExampleRecords } from '../state/preview.ts';
export type { OfferedMappings } from '../state/offered.ts';
