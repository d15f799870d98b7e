import { useState, type ReactNode } from 'react';
import { useText } from '../text/index.tsx';
import { ConnectForm } from './connect-form.tsx';
import { ConnectionSummary, returnUrlOf } from './connect-provider.tsx';
import type { InstalledProps } from './props.ts';
import { Button } from './ui.tsx';

/** The account that will be installed on, and the way to another one. */
export function Account(props: InstalledProps): ReactNode {
  const { provider, connection, returned } = props;
  const t = useText();
  const [asked, setAsked] = useState<boolean>();
  const isOpen = asked ?? returned.refusal !== undefined;
  return (
    <div className="svc-stack">
      <ConnectionSummary connection={connection} name={provider.displayName} />
      <div className="svc-actions">
        <Button look="quiet" onClick={() => setAsked(!isOpen)}>
          {t(isOpen ? 'cancel' : 'anotherAccount')}
        </Button>
      </div>
      {isOpen ? (
        <ConnectForm
          provider={provider}
          returnUrl={returnUrlOf(props)}
          returned={returned}
          onConnected={(made) => {
            setAsked(false);
            props.onRenewed(made);
          }}
        />
      ) : null}
    </div>
  );
}
