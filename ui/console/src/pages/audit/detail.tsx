import type { AuditEntry } from '@svc/client';
import type { ReactNode } from 'react';
import { wordOf } from '../../data/words.ts';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { wordsOf } from './actions.ts';
import { changesOf, whoOf, type Change } from './words.ts';

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
};

/** One entry: who, from where, and what was before and after. */
export function AuditDetail({ entry, onClose }: { entry: AuditEntry; onClose: () => void }): ReactNode {
  const { action, time, target, actor, address, requestId } = entry;
  const { told, hasBefore } = changesOf(entry);
  return (
    <Dialog title={wordsOf(action)} isOpen isWide onClose={onClose}>
      <Facts
        of={[
          ['When', <Time key="at" at={time} look="full" />],
          ['Who', whoOf(actor)],
          ['Key', actor.keyId && <Id key="key" value={actor.keyId} />],
          ['Group', actor.groupRef],
          ['From', address],
          ['Changed', <Id key="target" value={target.id} />],
          ['Request', requestId && <Id key="request" value={requestId} />],
        ]}
      />
      {told.length > 0 && <Changes told={told} hasBefore={hasBefore} />}
    </Dialog>
  );
}

function Changes({ told, hasBefore }: { told: readonly Change[]; hasBefore: boolean }): ReactNode {
  return (
    <div className="table-frame">
      <table className="table table-text" aria-label="What was changed">
        <thead>
          <tr>
            <th scope="col">Name</th>
            {hasBefore && <th scope="col">Before</th>}
            <th scope="col">{hasBefore ? 'After' : 'Value'}</th>
          </tr>
        </thead>
        <tbody>
          {told.map(({ name, before, after }) => (
            <tr key={name}>
              <td>{wordOf(name)}</td>
              {hasBefore && <td>{textOf(before)}</td>}
              <td>{textOf(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
