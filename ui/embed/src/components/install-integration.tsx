import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Connection, HydratedRevision } from '@svc/client';
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
import { ConnectForm, type ConnectFormProps } from './connect-form.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import { Configure } from './configure.tsx';
import type { InstalledProps, InstallIntegrationProps } from './props.ts';
import { BusyButton, Button, Failure, Loading, Notice } from './ui.tsx';
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
  const { store } = useSvc();
  const { integration, ...asked } = useIntegration();
  const found = useInstallation();
  const known = useConnection();
  const info = useProviderInfo(integration?.provider);
  const [returned] = useState(takeReturn);
  const [isGone, setGone] = useState(false);
  const edited = useRef<Connection>(undefined);
  useFresh();
  const failure = asked.error ?? found.error ?? known.error ?? info.error;
  const isKnown = integration && info.provider && !found.isPending && !known.isPending;
  if (!isKnown || !info.provider)
    return (
      <section className="svc-card">
        {failure ? <Failure error={failure} onRetry={() => void store.refresh('')} /> : <Loading />}
      </section>
    );
  const connection = found.installation?.connection ?? known.connection;
  const isUsable =
    connection !== undefined && (connection.status !== 'bad_credentials' || found.installation !== undefined);
  // A form that was filled in stays as it is while its account is connected again.
  if (isUsable) edited.current = connection;
  else if (isGone) edited.current = undefined;
  const about = connection ?? edited.current;
  return (
    <>
      {isUsable ? null : (
        <Connecting
          told={isGone ? 'uninstalled' : edited.current ? 'connectionOver' : undefined}
          provider={info.provider}
          renews={connection}
          returnUrl={returnUrlOf(props)}
          refusal={returned && 'error' in returned ? returned : undefined}
          onConnected={() => {
            setGone(false);
            void Promise.all([known.refetch(), store.refresh('revision')]);
          }}
        />
      )}
      {about && edited.current ? (
        <div hidden={!isUsable}>
          <WithFields
            {...props}
            provider={info.provider}
            connection={about}
            installation={found.installation}
            onRenewed={() => void Promise.all([known.refetch(), found.refetch(), store.refresh('revision')])}
            onUninstallSuccess={(id) => {
              setGone(true);
              props.onUninstallSuccess?.(id);
            }}
          />
        </div>
      ) : null}
    </>
  );
}

interface ConnectingProps extends ConnectFormProps {
  /** Why there is no account. */
  told: 'uninstalled' | 'connectionOver' | undefined;
}

function Connecting({ told, ...form }: ConnectingProps): ReactNode {
  const t = useText();
  return (
    <section className="svc-card svc-stack">
      {told ? <Notice tone={told === 'uninstalled' ? 'good' : 'warning'}>{t(told)}</Notice> : null}
      <h2>{t('connectTitle', { provider: form.provider.displayName })}</h2>
      <ConnectForm {...form} />
    </section>
  );
}

function WithFields(props: InstalledProps): ReactNode {
  const { revision, error, isFetching, refetch } = useRevision(props.connection.id);
  const t = useText();
  const seen = useRef<HydratedRevision>(undefined);
  const isNewer = seen.current !== undefined && revision !== undefined && seen.current.id !== revision.id;
  const [isTold, setTold] = useState(false);
  const failure = revision && failureOf(revision);
  // While a newer revision is on its way, and when it cannot be had, the form stays as it was.
  // What is installed can be paused, connected again and uninstalled in any case.
  const whole = failure === undefined ? revision : undefined;
  const shown = whole ?? seen.current ?? (props.installation ? revision : undefined);
  useEffect(() => {
    if (failure !== undefined) return;
    if (isNewer) setTold(true);
    if (revision) seen.current = revision;
  }, [revision, isNewer, failure]);
  const retry = (
    <BusyButton busy={isFetching} busyText={t('loading')} onClick={() => void refetch()}>
      {t('tryAgain')}
    </BusyButton>
  );
  if (!shown)
    return (
      <section className="svc-card">
        {failure === undefined ? null : (
          <Notice tone="bad" actions={retry}>
            <p>{t('fieldsFailed', { provider: props.provider.displayName })}</p>
            <details>
              <summary>{t('details')}</summary>
              <p dir="auto">{failure}</p>
            </details>
          </Notice>
        )}
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : null}
        {failure === undefined && !error ? <Loading /> : null}
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

/** Why nothing of the account can be chosen from: no object of it could be described. */
function failureOf({ content }: HydratedRevision): string | undefined {
  const objects = [...(content.read?.objects ?? []), ...(content.write?.objects ?? [])];
  const failed = objects.flatMap(({ error }) => error ?? []);
  return objects.length > 0 && failed.length === objects.length ? failed[0] : undefined;
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
