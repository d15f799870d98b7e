import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Connection, HydratedRevision, SvcError } from '@svc/client';
import { useSvc, useWhose } from '../hooks/provider.tsx';
import {
  useAccount,
  useInstallation,
  useIntegration,
  useProviderInfo,
  useRevision,
} from '../hooks/queries.ts';
import { failureOf, unloadedIn, withDescribed } from '../state/revised.ts';
import { Root, useText, type TextKey } from '../text/index.tsx';
import { ConnectForm, type ConnectFormProps } from './connect-form.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import { Configure } from './configure.tsx';
import type { InstalledProps, InstallIntegrationProps } from './props.ts';
import { BusyButton, Button, Failure, Loading, Notice } from './ui.tsx';
import { hasKept } from './kept-draft.ts';
import { useReturned } from './returning.ts';
import { FieldsFailed } from './unloaded.tsx';
import { useFresh } from './use-fresh.ts';
import { useOnce } from './use-once.ts';
import { useOffered } from './use-offered.ts';

/** Connects, asks what is shared and how it is mapped, and installs; later the place to change all of it. */
export function InstallIntegration({ appearance = {}, ...props }: InstallIntegrationProps): ReactNode {
  const whose = useWhose();
  return (
    <Root {...appearance}>
      <Installing key={whose} {...props} />
    </Root>
  );
}

/** `chosen`: the connection to install on, as long as it works. */
function useKnown(chosen: string | undefined) {
  const { integration, ...asked } = useIntegration();
  const found = useInstallation();
  const known = useAccount(undefined, chosen);
  const info = useProviderInfo(integration?.provider);
  const failure = asked.error ?? found.error ?? known.error ?? info.error;
  // What could not be asked for at first may well be there.
  const [isFound, isAsked] = [useOnce(found.isSuccess), useOnce(known.isSuccess)];
  return { integration, found, known, isKnown: isFound && isAsked, info, failure };
}

function Installing(props: Omit<InstallIntegrationProps, 'appearance'>): ReactNode {
  const { store } = useSvc();
  const [chosen, setChosen] = useState<string>();
  const edited = useRef<Connection>(undefined);
  // What a colleague connects meanwhile does not take its place.
  const { integration, found, known, isKnown, info, failure } = useKnown(chosen ?? edited.current?.id);
  const returned = useReturned(integration?.provider, setChosen);
  const installed = useRef(false);
  const whose = useWhose();
  const [isEntered, setEntered] = useState(() => hasKept(whose));
  useFresh();
  const [isGone, setGone] = useGone(found.installation?.id, isEntered);
  if (!integration || !isKnown || !info.provider) return <Awaited failure={failure} />;
  installed.current ||= found.installation !== undefined;
  const connection = found.installation?.connection ?? known.connection;
  const isUsable =
    connection !== undefined && (connection.status !== 'bad_credentials' || found.installation !== undefined);
  // A form that was filled in stays as it is while its account is connected again.
  if (isUsable) edited.current = connection;
  else if (isGone) edited.current = undefined;
  const about = connection ?? edited.current;
  const told = isGone ? 'uninstalled' : whyNone(installed.current, isEntered, edited.current);
  const gone = (id: string): void => {
    setGone(true);
    props.onUninstallSuccess?.(id);
  };
  const connected = (made?: Connection): void => {
    setGone(false);
    if (made) setChosen(made.id);
    installed.current = false;
    for (const key of ['connection', 'installation', 'revision']) void store.refresh(key);
  };
  return (
    <>
      {isUsable ? null : (
        <Connecting
          told={told}
          provider={info.provider}
          renews={connection}
          returnUrl={returnUrlOf(props)}
          returned={returned}
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
            returned={returned}
            onRenewed={connected}
            onEntered={setEntered}
            onUninstallSuccess={gone}
          />
        </div>
      ) : null}
    </>
  );
}

/** That it was uninstalled here is told until something is entered, or installed. */
function useGone(installationId: string | undefined, isEntered: boolean) {
  const state = useState(false);
  const [, setGone] = state;
  useEffect(() => {
    if (installationId !== undefined || isEntered) setGone(false);
  }, [installationId, isEntered]);
  return state;
}

function Awaited({ failure }: { failure: SvcError | undefined }): ReactNode {
  const { store } = useSvc();
  return (
    <section className="svc-card">
      {failure ? <Failure error={failure} onRetry={() => void store.refresh('')} /> : <Loading />}
    </section>
  );
}

/** Why there is no account; that what was entered is still here is told where something was. */
function whyNone(wasInstalled: boolean, isEntered: boolean, account?: Connection): TextKey | undefined {
  if (wasInstalled) return isEntered ? 'uninstalledElsewhere' : 'uninstalledByOther';
  if (isEntered) return 'connectionOver';
  return account && 'connectionDead';
}

interface ConnectingProps extends ConnectFormProps {
  told: TextKey | undefined;
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
  const { answer, failure, error, isFetching, refetch, whole, shown, isTold, close } = useFields(props);
  const offered = useOffered(props.fieldMapping, shown);
  const t = useText();
  const again = (
    <BusyButton busy={isFetching} busyText={t('loading')} onClick={() => void refetch()}>
      {t('tryAgain')}
    </BusyButton>
  );
  const trouble = (
    <>
      {failure === undefined ? null : (
        <FieldsFailed provider={props.provider.displayName} failure={failure} retry={again} />
      )}
      {error ? <Failure error={error} onRetry={() => void refetch()} /> : null}
    </>
  );
  if (!shown)
    return <section className="svc-card">{failure !== undefined || error ? trouble : <Loading />}</section>;
  const isOfNow = shown === (whole ?? answer);
  return (
    <>
      {isOfNow && props.connection.status !== 'bad_credentials' ? trouble : null}
      {isTold ? (
        <Notice
          tone="info"
          actions={
            <Button look="quiet" onClick={close}>
              {t('close')}
            </Button>
          }
        >
          {t('newRevision')}
        </Notice>
      ) : null}
      <Configure
        {...props}
        revision={shown}
        offered={offered}
        again={failure === undefined ? again : undefined}
      />
    </>
  );
}

/** What can be shown of the account: a form that was open stays as it was while a newer revision cannot be had. */
function useFields({ connection, installation }: InstalledProps) {
  const { revision: answer, error, isFetching, refetch } = useRevision(connection.id);
  const { store } = useSvc();
  const seen = useRef<{ revision: HydratedRevision; connectionId: string }>(undefined);
  const [isTold, setTold] = useState(false);
  const failure = answer && failureOf(answer);
  const whole = useMemo(() => {
    const known = seen.current?.connectionId === connection.id ? seen.current.revision : undefined;
    return answer && failure === undefined ? withDescribed(answer, known) : undefined;
  }, [answer, failure, connection.id]);
  const isNewer = seen.current !== undefined && whole !== undefined && seen.current.revision.id !== whole.id;
  // What is installed can be paused, connected again and uninstalled in any case.
  const shown = whole ?? seen.current?.revision ?? (installation ? answer : undefined);
  // Dead credentials are noticed by whoever asks with them first.
  const isRefused = failure !== undefined || error !== undefined;
  useEffect(() => {
    if (!isRefused) return;
    for (const key of ['connection', 'installation']) void store.refresh(key);
  }, [isRefused, store]);
  useEffect(() => {
    if (!whole) return;
    if (isNewer) setTold(true);
    seen.current = { revision: whole, connectionId: connection.id };
  }, [whole, isNewer, connection.id]);
  // What is set up was looked through.
  useEffect(() => setTold(false), [installation?.config.id]);
  // Whoever comes back to the page finds it mended.
  const isPart = whole !== undefined && unloadedIn(whole).length > 0;
  useFresh({ keys: isRefused || isPart ? ['revision'] : [] });
  const close = (): void => setTold(false);
  return { answer, failure, error, isFetching, refetch, whole, shown, isTold, close };
}
