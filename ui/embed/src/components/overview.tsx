import { useState, type ReactNode } from 'react';
import type { Connection, HydratedRevision, Installation, ProviderInfo } from '@svc/client';
import { useDeleteInstallation } from '../hooks/mutations.ts';
import { applyEdit } from '../state/draft.ts';
import { isPaused } from '../state/save.ts';
import { useText } from '../text/index.tsx';
import { Confirm } from './confirm.tsx';
import { ConnectForm } from './connect-form.tsx';
import { ConnectionSummary } from './connect-provider.tsx';
import { ReviewPanel } from './objects-panel.tsx';
import { Button, Notice } from './ui.tsx';
import type { ExamplesProps } from './examples.tsx';
import type { DraftState } from './use-draft.ts';

interface OverviewProps extends Pick<ExamplesProps, 'offered' | 'examples'> {
  installation: Installation;
  revision: HydratedRevision;
  provider: ProviderInfo;
  connection: Connection | undefined;
  state: DraftState;
  returnUrl: string | undefined;
  onRenewed: () => void;
  onUninstalled: (installationId: string) => void;
}

/** An installation that works, or what it needs; connecting again, pausing and uninstalling. */
export function Overview({
  installation,
  revision,
  provider,
  connection,
  state,
  returnUrl,
  offered,
  examples,
  ...on
}: OverviewProps): ReactNode {
  const t = useText();
  const isBroken = connection === undefined || connection.status === 'bad_credentials';
  const [isRenewing, setRenewing] = useState(false);
  const paused = isPaused(installation);
  const hasReads = Object.keys(installation.config.content.read?.objects ?? {}).length > 0;
  const setPaused = (enabled: boolean): void => {
    state.change((draft) =>
      Object.values(draft.read?.objects ?? {}).reduce(
        (now, { objectName }) =>
          applyEdit(now, { on: 'read', object: objectName, set: { kind: 'enabled', enabled } }),
        draft,
      ),
    );
  };
  return (
    <div className="svc-stack">
      {connection ? <ConnectionSummary connection={connection} name={provider.displayName} /> : null}
      {isBroken ? <Notice tone="warning">{t('broken', { provider: provider.displayName })}</Notice> : null}
      {isBroken || isRenewing ? (
        <ConnectForm
          provider={provider}
          renews={connection}
          returnUrl={returnUrl}
          onConnected={() => {
            setRenewing(false);
            on.onRenewed();
          }}
        />
      ) : null}
      {paused && !state.isChanged ? <Notice tone="info">{t('paused')}</Notice> : null}
      <ReviewPanel
        {...{ revision, offered, examples, connection, draft: state.draft }}
        provider={provider.displayName}
      />
      <div className="svc-actions">
        {isBroken ? null : (
          <Button onClick={() => setRenewing(!isRenewing)}>{t(isRenewing ? 'cancel' : 'reconnect')}</Button>
        )}
        {hasReads ? (
          <Button onClick={() => setPaused(paused)}>{t(paused ? 'resume' : 'pause')}</Button>
        ) : null}
        <Uninstall {...{ installation, provider, revision }} onUninstalled={on.onUninstalled} />
      </div>
    </div>
  );
}

interface UninstallProps {
  installation: Installation;
  provider: ProviderInfo;
  revision: HydratedRevision;
  onUninstalled: (installationId: string) => void;
}

function Uninstall({ installation, provider, revision, onUninstalled }: UninstallProps): ReactNode {
  const t = useText();
  const { content } = revision;
  const { deleteInstallation, isPending, error } = useDeleteInstallation();
  return (
    <Confirm
      action={t('uninstall')}
      title={t('uninstallTitle', { integration: content.displayName ?? content.name })}
      text={t('uninstallText', { provider: provider.displayName })}
      look="danger"
      isPending={isPending}
      error={error}
      onConfirm={() => void deleteInstallation({ installation, onSuccess: onUninstalled })}
    />
  );
}
