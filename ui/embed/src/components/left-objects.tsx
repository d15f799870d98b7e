import type { ReactNode } from 'react';
import type { ConfigContent, HydratedRevision } from '@svc/client';
import { leftIn } from '../state/reading.ts';
import { useText } from '../text/index.tsx';
import { BusyButton } from './ui.tsx';

interface LeftObjectsProps {
  /** The config in force. */
  content: ConfigContent;
  revision: HydratedRevision;
  isSaving: boolean;
  onStop: (objectName: string) => void;
}

/** What the integration no longer offers, and what goes on all the same, with a way to end the reads. */
export function LeftObjects({ content, revision, isSaving, onStop }: LeftObjectsProps): ReactNode {
  const t = useText();
  const left = leftIn(content, revision);
  if (left.length === 0) return null;
  return (
    <ul className="svc-rows">
      {left.map(({ objectName, isRead, isWritten }) => (
        <li key={objectName} className="svc-row">
          <div className="svc-row-name">
            <strong>
              <bdi>{objectName}</bdi>
            </strong>
            {isRead ? <span className="svc-hint">{t('leftRead')}</span> : null}
            {isWritten ? <span className="svc-hint">{t('leftWritten')}</span> : null}
          </div>
          {isRead ? (
            <BusyButton busy={isSaving} busyText={t('installing')} onClick={() => onStop(objectName)}>
              {t('stopReading', { object: objectName })}
            </BusyButton>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
