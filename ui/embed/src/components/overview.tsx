import { useRef, useState, type ReactNode } from 'react';
import type {
  ConfigContent,
  Connection,
  HydratedRevision,
  Installation,
  ProviderInfo,
  ReadState,
} from '@svc/client';
import { useDeleteInstallation } from '../hooks/mutations.ts';
import { useSvc } from '../hooks/provider.tsx';
import { useReads } from '../hooks/queries.ts';
import { heldIn, leftIn, pausableIn, readIn, withReads } from '../state/reading.ts';
import { keeperOf } from '../state/whose.ts';
import { nameOf } from '../state/wizard.ts';
import { useText } from '../text/index.tsx';
import { Confirm } from './confirm.tsx';
import { ConnectForm, isOf } from './connect-form.tsx';
import { ConnectionSummary } from './connect-provider.tsx';
import { LeftObjects } from './left-objects.tsx';
import { ReviewPanel } from './objects-panel.tsx';
import { Resume } from './resume.tsx';
import { BusyButton, Button, Notice } from './ui.tsx';
import type { ExamplesProps } from './examples.tsx';
import type { Returned } from './returning.ts';
import type { DraftState } from './use-draft.ts';
import { useFresh } from './use-fresh.ts';
import type { Change } from './use-sending.ts';

export interface OverviewProps extends Pick<ExamplesProps, 'offered' | 'examples'> {
  installation: Installation;
  revision: HydratedRevision;
  provider: ProviderInfo;
  connection: Connection | undefined;
  state: DraftState;
  returnUrl: string | undefined;
  returned: Returned;
  onRenewed: () => void;
  onUninstalled: (installationId: string) => void;
  /** Saves a change by itself. */
  onChange: (change: Change) => void;
}

/** An installation that works, or what it needs; connecting again, pausing and uninstalling. */
export function Overview({
  installation,
  revision,
  provider,
  connection,
  state,
  returnUrl,
  returned,
  offered,
  examples,
  ...on
}: OverviewProps): ReactNode {
  const t = useText();
  const isBroken = connection === undefined || connection.status === 'bad_credentials';
  const { consumerRef } = useSvc();
  const [isRenewing, setRenewing] = useState(false);
  const { content } = installation.config;
  const states = useLeft(installation, revision);
  const isPaused = heldIn(content).length > 0 && readIn(content, revision).length === 0;
  return (
    <div className="svc-stack">
      {connection ? <ConnectionSummary connection={connection} name={provider.displayName} /> : null}
      {isBroken ? <Notice tone="warning">{t('broken', { provider: provider.displayName })}</Notice> : null}
      {isBroken || isRenewing ? (
        <ConnectForm
          provider={provider}
          renews={connection}
          returnUrl={returnUrl}
          returned={returned}
          onConnected={() => {
            setRenewing(false);
            on.onRenewed();
          }}
        />
      ) : null}
      {isPaused ? <Notice tone="info">{t('paused')}</Notice> : null}
      <ReviewPanel
        {...{ revision, offered, examples, connection, draft: state.draft }}
        saved={content}
        provider={provider.displayName}
      />
      <LeftObjects
        {...{ content, revision, states }}
        isSaving={state.isSaving}
        onStop={(objectName) => on.onChange({ by: (config) => withReads(config, [objectName], false) })}
      />
      <div className="svc-actions">
        {isBroken || !isOf(connection, consumerRef) ? null : (
          <Button onClick={() => setRenewing(!isRenewing)}>{t(isRenewing ? 'cancel' : 'reconnect')}</Button>
        )}
        <Reading {...{ content, revision, state }} onChange={on.onChange} />
        <Uninstall
          {...{ installation, provider, revision }}
          keeper={keeperOf(connection, consumerRef)}
          onUninstalled={on.onUninstalled}
        />
      </div>
    </div>
  );
}

/** How it is read what the manifest no longer has: asked where there is such an object, and again by who comes back. */
function useLeft({ id, config }: Installation, revision: HydratedRevision): ReadState[] | undefined {
  const isAsked = leftIn(config.content, revision).some(({ isRead }) => isRead);
  useFresh({ keys: isAsked ? ['reads'] : [] });
  const states = useReads(isAsked ? id : undefined, revision.id);
  // What was said before holds until it is said of a newer revision.
  const last = useRef(states);
  last.current = states ?? last.current;
  return last.current;
}

interface ReadingProps extends Pick<OverviewProps, 'revision' | 'state' | 'onChange'> {
  content: ConfigContent;
}

/** Pauses all that is read, and asks what of it is read again. */
function Reading({ content, revision, state, onChange }: ReadingProps): ReactNode {
  const t = useText();
  const [read, held] = [pausableIn(content, revision), heldIn(content)];
  const set = (names: readonly string[], enabled: boolean): void =>
    onChange({ by: (config) => withReads(config, names, enabled), pauses: enabled ? [] : names });
  return (
    <>
      {read.length > 0 ? (
        <BusyButton busy={state.isSaving} busyText={t('installing')} onClick={() => set(read, false)}>
          {t('pause')}
        </BusyButton>
      ) : null}
      {held.length > 0 ? (
        <Resume
          held={held.map((objectName) => ({ objectName, label: nameOf(revision, objectName) }))}
          paused={state.paused}
          isSaving={state.isSaving}
          onResume={(names) => set(names, true)}
        />
      ) : null}
    </>
  );
}

interface UninstallProps {
  installation: Installation;
  provider: ProviderInfo;
  revision: HydratedRevision;
  keeper: string | undefined;
  onUninstalled: (installationId: string) => void;
}

function Uninstall({ installation, provider, revision, keeper, onUninstalled }: UninstallProps): ReactNode {
  const t = useText();
  const { content } = revision;
  const { deleteInstallation, isPending, error } = useDeleteInstallation();
  return (
    <Confirm
      action={t('uninstall')}
      title={t('uninstallTitle', { integration: content.displayName ?? content.name })}
      text={
        keeper === undefined
          ? t('uninstallText', { provider: provider.displayName })
          : t('uninstallTextOther', { provider: provider.displayName, person: keeper })
      }
      look="danger"
      isPending={isPending}
      error={error}
      onConfirm={() => void deleteInstallation({ installation, onSuccess: onUninstalled })}
    />
  );
}
