import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Connection, HydratedRevision } from '@svc/client';
import { useSvc, useWhose } from '../hooks/provider.tsx';
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
import { useReturned } from './returning.ts';
import { useFresh } from './use-fresh.ts';

const noMappings: OfferedMappings = {};

/** Connects, asks what is shared and how it is mapped, and installs; later the place to change all of it. */
export function InstallIntegration({ appearance = {}, ...props }: InstallIntegrationProps): ReactNode {
  const whose = useWhose();
  return (
    <Root {...appearance}>
      <Installing key={whose} {...props} />
    </Root>
  );
}

function useKnown() {
  const { integration, ...asked } = useIntegration();
  const found = useInstallation();
  const known = useConnection();
  const info = useProviderInfo(integration?.provider);
  const failure = asked.error ?? found.error ?? known.error ?? info.error;
  return { integration, found, known, info, failure };
}

function Installing(props: Omit<InstallIntegrationProps, 'appearance'>): ReactNode {
  const { store } = useSvc();
  const { integration, found, known, info, failure } = useKnown();
  const refusal = useReturned(integration?.provider);
  const [isGone, setGone] = useState(false);
  const edited = useRef<Connection>(undefined);
  const installed = useRef(false);
  useFresh();
  const isKnown = integration && !found.isPending && !known.isPending;
  if (!isKnown || !info.provider) return <Awaited failure={failure} />;
  installed.current ||= found.installation !== undefined;
  const connection = found.installation?.connection ?? known.connection;
  const isUsable =
    connection !== undefined && (connection.status !== 'bad_credentials' || found.installation !== undefined);
  // A form that was filled in stays as it is while its account is connected again.
  if (isUsable) edited.current = connection;
  else if (isGone) edited.current = undefined;
  const about = connection ?? edited.current;
  const told = installed.current ? 'uninstalledElsewhere' : edited.current && 'connectionOver';
  const gone = (id: string): void => {
    setGone(true);
    props.onUninstallSuccess?.(id);
  };
  const connected = (): void => {
    setGone(false);
    installed.current = false;
    for (const key of ['connection', 'installation', 'revision']) void store.refresh(key);
  };
  return (
    <>
      {isUsable ? null : (
        <Connecting
          told={isGone ? 'uninstalled' : told}
          provider={info.provider}
          renews={connection}
          returnUrl={returnUrlOf(props)}
          refusal={refusal}
          onConnected={connected}
        />
      )}
      {about && edited.current ? (
        <div hidden={!isUsable}>
          <WithFields
            {...props}
            provider={info.provider}
            connection={about}
            installation={found.installation}
            onRenewed={connected}
            onUninstallSuccess={gone}
          />
        </div>
      ) : null}
    </>
  );
}

function Awaited({ failure }: { failure: Error | undefined }): ReactNode {
  const { store } = useSvc();
  return (
    <section className="svc-card">
      {failure ? <Failure error={failure} onRetry={() => void store.refresh('')} /> : <Loading />}
    </section>
  );
}

interface ConnectingProps extends ConnectFormProps {
  /** Why there is no account. */
  told: 'uninstalled' | 'uninstalledElsewhere' | 'connectionOver' | undefined;
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
  const { store } = useSvc();
  // Dead credentials are noticed by whoever asks with them first.
  const isRefused = failure !== undefined || error !== undefined;
  useEffect(() => {
    if (!isRefused) return;
    for (const key of ['connection', 'installation']) void store.refresh(key);
  }, [isRefused, store]);
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
