import type { ReactNode } from 'react';
import type { ConfigContent, HydratedRevision } from '@svc/client';
import { leftOut, unloadedIn } from '../state/revised.ts';
import { nameOf } from '../state/wizard.ts';
import { useText } from '../text/index.tsx';
import { Notice, Said } from './ui.tsx';

interface FieldsFailedProps {
  provider: string;
  failure: string;
  retry: ReactNode;
}

/** Nothing of the account could be loaded. */
export function FieldsFailed({ provider, failure, retry }: FieldsFailedProps): ReactNode {
  const t = useText();
  return (
    <Notice tone="bad" actions={retry}>
      <p>{t('fieldsFailed', { provider })}</p>
      <Details said={[failure]} />
    </Notice>
  );
}

interface SomeFailedProps {
  revision: HydratedRevision;
  draft: ConfigContent;
  isInstalled: boolean;
  retry: ReactNode;
}

/** Some objects could not be loaded; in the first form that they are left out, which nobody chose. */
export function SomeFailed({ revision, draft, isInstalled, retry }: SomeFailedProps): ReactNode {
  const t = useText();
  const failed = unloadedIn(revision);
  const left = isInstalled ? [] : leftOut(draft, revision);
  if (failed.length === 0) return null;
  const named = (names: readonly string[]): string => names.map((name) => nameOf(revision, name)).join(', ');
  return (
    <Notice tone="warning" actions={retry}>
      <p>{t('someFailed', { objects: named(failed.map(({ objectName }) => objectName)) })}</p>
      {left.length > 0 ? <p>{t('someLeftOut', { objects: named(left) })}</p> : null}
      <Details said={failed.map(({ error }) => error)} />
    </Notice>
  );
}

function Details({ said }: { said: readonly string[] }): ReactNode {
  const t = useText();
  return (
    <details>
      <summary>{t('details')}</summary>
      {said.map((one) => (
        <p key={one}>
          <Said>{one}</Said>
        </p>
      ))}
    </details>
  );
}
