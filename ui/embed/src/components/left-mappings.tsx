import type { ReactNode } from 'react';
import type { LeftMapping } from '../state/questions.ts';
import { useText } from '../text/index.tsx';
import { Button } from './ui.tsx';

interface LeftMappingsProps {
  left: readonly LeftMapping[];
  onLeave: (mapToName: string) => void;
}

/** What is matched and delivered though nobody asks for it, with a way to leave it out. */
export function LeftMappings({ left, onLeave }: LeftMappingsProps): ReactNode {
  const t = useText();
  if (left.length === 0) return null;
  return (
    <section className="svc-section">
      <h3>{t('mappingsLeft')}</h3>
      <p className="svc-hint">{t('mappingsLeftIntro')}</p>
      <ul className="svc-rows">
        {left.map(({ mapToName, label, field }) => (
          <li key={mapToName} className="svc-row">
            <div className="svc-row-name">
              <strong>
                <bdi>{label}</bdi>
              </strong>
              <span className="svc-hint">
                <bdi>{t('matchedTo', { name: field })}</bdi>
              </span>
            </div>
            <Button onClick={() => onLeave(mapToName)}>{t('leaveOut', { name: label })}</Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
