import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { HydratedRevision } from '@svc/client';
import { useSvc } from '../hooks/provider.tsx';
import {
  useConnection,
  useInstallation,
  useIntegration,
  useProviderInfo,
  useRevision,
} from '../hooks/queries.ts';
import type { OfferedMappings } from '../state/questions.ts';
import { Root, useText } from '../text/index.tsx';
import { ConnectForm } from './connect-form.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import { Configure } from './configure.tsx';
import type { InstalledProps, InstallIntegrationProps } from './props.ts';
import { Button, Failure, Loading, Notice } from './ui.tsx';
import { takeReturn } from './use-oauth.ts';

const noMappings: OfferedMappings = {};

/** Connects, asks what is shared and how it is mapped, and installs; later the place to change all of it. */
export function InstallIntegration({ appearance = {}, ...props }: InstallIntegrationProps): ReactNode {
  return (
    <Root {...appearance}>
      <Installing {...props} />
    </Root>
  );
}

function Installing(props: Omit<InstallIntegrationProps, 'appearance'>): ReactNode {
  const t = useText();
  const { store } = useSvc();
  const { integration, ...asked } = useIntegration();
  const found = useInstallation();
  const known = useConnection();
  const info = useProviderInfo(integration?.provider);
  const [returned] = useState(takeReturn);
  const [isGone, setGone] = useState(false);
  useFresh();
  const failure = asked.error ?? found.error ?? known.error ?? info.error;
  const isKnown = integration && info.provider && !found.isPending && !known.isPending;
  if (failure && !isKnown)
    return (
      <section className="svc-card">
        <Failure error={failure} onRetry={() => void store.refresh('')} />
      </section>
    );
  if (!isKnown || !info.provider)
    return (
      <section className="svc-card">
        <Loading />
      </section>
    );
  const connection = found.installation?.connection ?? known.connection;
  const isUsable =
    connection !== undefined && (connection.status !== 'bad_credentials' || found.installation);
  if (!isUsable)
    return (
      <section className="svc-card svc-stack">
        {isGone ? <Notice tone="good">{t('uninstalled')}</Notice> : null}
        <h2>{t('connectTitle', { provider: info.provider.displayName })}</h2>
        <ConnectForm
          provider={info.provider}
          renews={connection}
          returnUrl={returnUrlOf(props)}
          refusal={returned && 'error' in returned ? returned.error : undefined}
          onConnected={() => void known.refetch()}
        />
      </section>
    );
  return (
    <WithFields
      {...props}
      provider={info.provider}
      connection={connection}
      installation={found.installation}
      onRenewed={() => void Promise.all([known.refetch(), found.refetch()])}
      onUninstallSuccess={(id) => {
        setGone(true);
        props.onUninstallSuccess?.(id);
      }}
    />
  );
}

function WithFields(props: InstalledProps): ReactNode {
  const { revision, error, refetch } = useRevision(props.connection.id);
  const t = useText();
  const seen = useRef<HydratedRevision>(undefined);
  const isNewer = seen.current !== undefined && revision !== undefined && seen.current.id !== revision.id;
  const [isTold, setTold] = useState(false);
  // While a newer revision is on its way, and when it cannot be had, the form stays as it was.
  const shown = revision ?? seen.current;
  useEffect(() => {
    if (isNewer) setTold(true);
    if (revision) seen.current = revision;
  }, [revision, isNewer]);
  if (!shown)
    return (
      <section className="svc-card">
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
      </section>
    );
  return (
    <>
      {isTold ? (
        <Notice
          tone="info"
          actions={
            <Button look="quiet" onClick={() => setTold(false)}>
              {t('close')}
            </Button>
          }
        >
          {t('newRevision')}
        </Notice>
      ) : null}
      <Configure {...props} revision={shown} offered={props.fieldMapping ?? noMappings} />
    </>
  );
}

/** Looks again at what others may have changed, when the person comes back to the page. */
function useFresh(): void {
  const { store } = useSvc();
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState !== 'visible') return;
      for (const key of ['integration', 'installation', 'connection']) void store.refresh(key);
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [store]);
}
