import type { ReactNode } from 'react';
import type { ConfigContent, HydratedRevision, ReadState } from '@svc/client';
import { leftIn, readingOf } from '../state/reading.ts';
import { nameOf } from '../state/wizard.ts';
import { useText } from '../text/index.tsx';
import { BusyButton } from './ui.tsx';

interface LeftObjectsProps {
  /** The config in force. */
  content: ConfigContent;
  revision: HydratedRevision;
  /** How its objects are read, where svc said so. */
  states: readonly ReadState[] | undefined;
  isSaving: boolean;
  onStop: (objectName: string) => void;
}

const told = { read: 'leftRead', ended: 'leftEnded', unknown: 'leftUnknown' } as const;

/** What the integration no longer offers, and whether it goes on all the same, with a way to end the reads. */
export function LeftObjects({ content, revision, states, isSaving, onStop }: LeftObjectsProps): ReactNode {
  const t = useText();
  const left = leftIn(content, revision);
  if (left.length === 0) return null;
  return (
    <ul className="svc-rows">
      {left.map(({ objectName, isRead, isWritten }) => {
        const reading = readingOf(objectName, states);
        const name = nameOf(revision, objectName);
        return (
          <li key={objectName} className="svc-row">
            <div className="svc-row-name">
              <strong>
                <bdi>{name}</bdi>
              </strong>
              {isRead ? <span className="svc-hint">{t(told[reading])}</span> : null}
              {isWritten ? <span className="svc-hint">{t('leftWritten')}</span> : null}
            </div>
            {isRead && reading !== 'ended' ? (
              <BusyButton busy={isSaving} busyText={t('installing')} onClick={() => onStop(objectName)}>
                {t('stopReading', { object: name })}
              </BusyButton>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}
