import { useState, type ReactNode } from 'react';
import type { Connection } from '@svc/client';
import { useMutation } from '../hooks/mutations.ts';
import { useSvc, useWhose } from '../hooks/provider.tsx';
import { useConnection, useIntegration, useProviderInfo } from '../hooks/queries.ts';
import { Root, useText, type Appearance } from '../text/index.tsx';
import { Confirm } from './confirm.tsx';
import { ConnectForm, isOf } from './connect-form.tsx';
import { Button, Failure, Loading, Notice } from './ui.tsx';
import { useReturned } from './returning.ts';
import { useFresh } from './use-fresh.ts';
import { useOnce } from './use-once.ts';

export interface ConnectProviderProps {
  /** Default: that of the integration. */
  provider?: string;
  /** `redirect` leaves this page for the provider's and comes back, as web views need it. */
  mode?: 'popup' | 'redirect';
  /** Where `redirect` comes back to; default: this page. */
  returnUrl?: string;
  appearance?: Appearance;
  onConnectSuccess?: (connection: Connection) => void;
  onDisconnectSuccess?: (connectionId: string) => void;
}

/** Connects the group's account at a provider, and shows the connection that there is. */
export function ConnectProvider({ appearance = {}, ...props }: ConnectProviderProps): ReactNode {
  const whose = useWhose();
  return (
    <Root {...appearance}>
      <section className="svc-card">
        <Connecting key={`${whose} ${props.provider ?? ''}`} {...props} />
      </section>
    </Root>
  );
}

function Connecting(props: Omit<ConnectProviderProps, 'appearance'>): ReactNode {
  const t = useText();
  const { store } = useSvc();
  const { integration, error: absent } = useIntegration();
  const info = useProviderInfo(props.provider ?? integration?.provider);
  const known = useConnection(props.provider === undefined ? {} : { provider: props.provider });
  const returned = useReturned(info.provider?.name);
  const [isRenewing, setRenewing] = useState(false);
  useFresh({ keys: ['connection'] });
  const failure = info.error ?? known.error ?? (props.provider === undefined ? absent : undefined);
  // What is known stays while it cannot be asked for again: a form, and somebody who signs in elsewhere.
  const isKnown = useOnce(known.isSuccess);
  if (!info.provider || !isKnown)
    return failure ? <Failure error={failure} onRetry={() => void store.refresh('')} /> : <Loading />;
  const { connection } = known;
  const connected = (made: Connection): void => {
    setRenewing(false);
    void known.refetch();
    props.onConnectSuccess?.(made);
  };
  if (connection && !isRenewing && connection.status !== 'bad_credentials')
    return (
      <Connected
        connection={connection}
        name={info.provider.displayName}
        onRenew={() => setRenewing(true)}
        onGone={() => {
          // What was set up on it is gone with it.
          void Promise.all([known.refetch(), store.refresh('installation')]);
          props.onDisconnectSuccess?.(connection.id);
        }}
      />
    );
  return (
    <div className="svc-stack">
      <h2>{t('connectTitle', { provider: info.provider.displayName })}</h2>
      {connection?.status === 'bad_credentials' ? (
        <Notice tone="warning">{t('broken', { provider: info.provider.displayName })}</Notice>
      ) : null}
      <ConnectForm
        provider={info.provider}
        renews={connection}
        returnUrl={returnUrlOf(props)}
        returned={returned}
        onConnected={connected}
      />
    </div>
  );
}

export function returnUrlOf({
  mode,
  returnUrl,
}: Pick<ConnectProviderProps, 'mode' | 'returnUrl'>): string | undefined {
  // A server renders nothing that leads away.
  if (mode !== 'redirect' || typeof location === 'undefined') return undefined;
  const here = location.href.split('#', 1)[0] ?? '';
  // One that no page has is refused when it is left for.
  return returnUrl !== undefined && URL.canParse(returnUrl, here)
    ? new URL(returnUrl, here).href
    : (returnUrl ?? here);
}

interface ConnectedProps {
  connection: Connection;
  name: string;
  onRenew: () => void;
  onGone: () => void;
}

function Connected({ connection, name, onRenew, onGone }: ConnectedProps): ReactNode {
  const t = useText();
  const { svc, consumerRef } = useSvc();
  const [disconnect, { isPending, error }] = useMutation(() => svc.connections.delete(connection.id));
  const summary = <ConnectionSummary connection={connection} name={name} />;
  if (!isOf(connection, consumerRef)) return summary;
  return (
    <div className="svc-stack">
      {summary}
      <div className="svc-actions">
        <Button onClick={onRenew}>{t('reconnect')}</Button>
        <Confirm
          action={t('disconnect')}
          title={t('disconnectTitle', { provider: name })}
          text={t('disconnectText', { provider: name })}
          look="quiet"
          isPending={isPending}
          error={error}
          onConfirm={() => void disconnect({ onSuccess: onGone })}
        />
      </div>
    </div>
  );
}

/** Which account is connected, and whether it works. */
export function ConnectionSummary({ connection, name }: { connection: Connection; name: string }): ReactNode {
  const t = useText();
  const { consumerRef } = useSvc();
  const isBroken = connection.status === 'bad_credentials';
  const account = connection.providerWorkspaceRef;
  const { consumerName } = connection.consumer;
  return (
    <div className="svc-summary">
      <span className={`svc-dot svc-dot-${isBroken ? 'bad' : 'good'}`} aria-hidden="true" />
      <div>
        <strong>{isBroken ? t('notConnected') : t('connectedTo', { provider: name })}</strong>
        {account === undefined ? null : (
          <span className="svc-muted" dir="auto">
            {t('account', { account })}
          </span>
        )}
        {isOf(connection, consumerRef) ? null : (
          <span className="svc-muted" dir="auto">
            {t('connectedBy', { person: consumerName })}
          </span>
        )}
      </div>
    </div>
  );
}
