import type { Connection, Installation, ProviderInfo } from '@svc/client';
import type { ExampleRecords } from '../state/preview.ts';
import type { OfferedMappings } from '../state/offered.ts';
import type { Appearance } from '../text/index.tsx';
import type { Returned } from './returning.ts';

export interface InstallIntegrationProps {
  /** Mappings offered besides those of the manifest, by object. */
  fieldMapping?: OfferedMappings;
  /** A record as your application writes it, by object: the review shows what is sent of it. */
  exampleRecords?: ExampleRecords;
  /** `redirect` leaves this page for the provider's and comes back, as web views need it. */
  mode?: 'popup' | 'redirect';
  returnUrl?: string;
  /** Where the last page leads back to. */
  backUrl?: string | undefined;
  appearance?: Appearance;
  onInstallSuccess?: (installationId: string, config: Installation['config']) => void;
  onUpdateSuccess?: (installationId: string, config: Installation['config']) => void;
  onUninstallSuccess?: (installationId: string) => void;
}

export interface InstalledProps extends Omit<InstallIntegrationProps, 'appearance'> {
  provider: ProviderInfo;
  connection: Connection;
  installation: Installation | undefined;
  /** How a sign-in in place of the page ended. */
  returned: Returned;
  /** With the connection that was made, where the installation is to be made on it. */
  onRenewed: (made?: Connection) => void;
  /** Whether something was entered that is not saved. */
  onEntered: (isEntered: boolean) => void;
}
