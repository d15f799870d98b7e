'use client';

// By name: a boundary between server and client takes no stars.
export {
  mergeDrafts,
  planSave,
  SvcError,
  SvcProvider,
  useConfig,
  useConnection,
  useCreateInstallation,
  useDeleteInstallation,
  useInstallation,
  useIntegration,
  useIsIntegrationInstalled,
  useManifest,
  usePreviews,
  useProviderInfo,
  useUpdateInstallation,
  type Answered,
  type ExampleRecords,
  type FieldKind,
  type FormIssue,
  type GetToken,
  type LocalConfig,
  type Manifest,
  type Merge,
  type Mutation,
  type OfferedMappings,
  type Person,
  type Previews,
  type SavePlan,
  type SvcProviderProps,
} from './hooks/index.ts';
export { ConnectProvider, type ConnectProviderProps } from './components/connect-provider.tsx';
export { ConnectionHealth, type ConnectionHealthProps } from './components/connection-health.tsx';
export { InstallIntegration } from './components/install-integration.tsx';
export type { InstallIntegrationProps } from './components/props.ts';
export type { Appearance, Texts } from './text/index.tsx';
