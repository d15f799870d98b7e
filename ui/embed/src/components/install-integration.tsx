import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Connection, HydratedRevision, SvcError } from '@svc/client';
import { useSvc, useWhose } from '../hooks/provider.tsx';
import {
  useAccount,
  useInstallation,
  useIntegration,
  useProviderInfo,
  useRevision,
} from '../hooks/queries.ts';
import type { OfferedMappings } from '../state/questions.ts';
import { Root, useText, type TextKey } from '../text/index.tsx';
import { ConnectForm, type ConnectFormProps } from './connect-form.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import { Configure } from './configure.tsx';
import type { InstalledProps, InstallIntegrationProps } from './props.ts';
import { BusyButton, Button, Failure, Loading, Notice, Said } from './ui.tsx';
import { hasKept } from './kept-draft.ts';
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

/** Whether it ever was so. */
function useOnce(is: boolean): boolean {
  const was = useRef(false);
  was.current ||= is;
  return was.current;
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
  // What is set up was looked through.
  useEffect(() => setTold(false), [props.installation?.config.id]);
  // Whoever comes back to the page finds it mended.
  useFresh({ keys: isRefused ? ['revision'] : [] });
  const trouble = (
    <>
      {failure === undefined ? null : (
        <FieldsFailed
          provider={props.provider.displayName}
          failure={failure}
          retry={
            <BusyButton busy={isFetching} busyText={t('loading')} onClick={() => void refetch()}>
              {t('tryAgain')}
            </BusyButton>
          }
        />
      )}
      {error ? <Failure error={error} onRetry={() => void refetch()} /> : null}
    </>
  );
  if (!shown) return <section className="svc-card">{isRefused ? trouble : <Loading />}</section>;
  return (
    <>
      {shown === revision && props.connection.status !== 'bad_credentials' ? trouble : null}
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

interface FieldsFailedProps {
  provider: string;
  failure: string;
  retry: ReactNode;
}

function FieldsFailed({ provider, failure, retry }: FieldsFailedProps): ReactNode {
  const t = useText();
  return (
    <Notice tone="bad" actions={retry}>
      <p>{t('fieldsFailed', { provider })}</p>
      <details>
        <summary>{t('details')}</summary>
        <p>
          <Said>{failure}</Said>
        </p>
      </details>
    </Notice>
  );
}

/** Why nothing of the account can be chosen from: no object of it could be described. */
function failureOf({ content }: HydratedRevision): string | undefined {
  const objects = [...(content.read?.objects ?? []), ...(content.write?.objects ?? [])];
  const failed = objects.flatMap(({ error }) => error ?? []);
  return objects.length > 0 && failed.length === objects.length ? failed[0] : undefined;
}
