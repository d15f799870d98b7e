export * from './hooks/index.ts';
export { ConnectProvider, type ConnectProviderProps } from './components/connect-provider.tsx';
export { ConnectionHealth, type ConnectionHealthProps } from './components/connection-health.tsx';
export { InstallIntegration } from './components/install-integration.tsx';
export type { InstallIntegrationProps } from './components/props.ts';
export type { Appearance, Texts } from './text/index.tsx';
