import { useState, type ReactNode } from 'react';
import { useSvc, useWhose } from '../hooks/provider.tsx';
import { useConnection, useInstallation, useProviderInfo } from '../hooks/queries.ts';
import { Root, useText, type Appearance } from '../text/index.tsx';
import { useReturned } from './returning.ts';
import { ConnectForm, isOf } from './connect-form.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import { Button, Failure, Loading, Notice } from './ui.tsx';
import { useFresh } from './use-fresh.ts';

export interface ConnectionHealthProps {
  provider?: string;
  mode?: 'popup' | 'redirect';
  returnUrl?: string;
  /** Shows something only when the connection does not work. */
  quiet?: boolean;
  appearance?: Appearance;
  onReconnect?: () => void;
}

/** Whether the connection works; where it does not, the way to connect again. */
export function ConnectionHealth({ appearance = {}, ...props }: ConnectionHealthProps): ReactNode {
  const whose = useWhose();
  return (
    <Root {...appearance}>
      <Health key={whose} {...props} />
    </Root>
  );
}

function Health({
  provider: asked,
  quiet = false,
  onReconnect,
  ...way
}: Omit<ConnectionHealthProps, 'appearance'>): ReactNode {
  const t = useText();
  const { consumerRef } = useSvc();
  const known = useConnection(asked === undefined ? {} : { provider: asked });
  const { installation, ...found } = useInstallation();
  // What is installed works with the connection that it has, whatever else there is.
  const isOfIt = asked === undefined || installation?.config.content.provider === asked;
  const connection = installation && isOfIt ? installation.connection : known.connection;
  const error = known.error ?? found.error;
  const refetch = (): void => {
    for (const one of [known, found]) void one.refetch();
  };
  const info = useProviderInfo(connection?.provider);
  const returned = useReturned(connection?.provider);
  const [isRenewing, setRenewing] = useState(false);
  useFresh({ every: true, keys: ['connection', 'installation'] });
  // An answer that fails once tells nothing of the connection that is known.
  if (error && !connection) return <Failure error={error} onRetry={refetch} />;
  if (known.isPending || found.isPending) return quiet ? null : <Loading />;
  if (!connection) return quiet ? null : <Notice tone="info">{t('notConnected')}</Notice>;
  const name = info.provider?.displayName ?? connection.provider;
  if ((isRenewing || returned.refusal) && info.provider)
    return (
      <section className="svc-card">
        <ConnectForm
          provider={info.provider}
          renews={connection}
          returnUrl={returnUrlOf(way)}
          returned={returned}
          onConnected={() => {
            setRenewing(false);
            onReconnect?.();
          }}
        />
      </section>
    );
  const renew = <Button onClick={() => setRenewing(true)}>{t('reconnect')}</Button>;
  if (connection.status === 'bad_credentials')
    return (
      <Notice tone="bad" actions={renew}>
        {t('broken', { provider: name })}
      </Notice>
    );
  const { missingScopes } = connection;
  if (missingScopes)
    return (
      <Notice tone="warning" actions={isOf(connection, consumerRef) ? renew : undefined}>
        {t('missingScopes', { scopes: missingScopes.join(', ') })}
      </Notice>
    );
  return quiet ? null : <Notice tone="good">{t('healthy')}</Notice>;
}
