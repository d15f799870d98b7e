import { useId, useRef, useState, type ReactNode } from 'react';
import { useText } from '../text/index.tsx';
import { Button } from './ui.tsx';

interface ResumeProps {
  /** What is not read, and what it is called. */
  held: readonly { objectName: string; label: string }[];
  /** What this page paused itself. */
  paused: readonly string[];
  isSaving: boolean;
  onResume: (names: readonly string[]) => void;
}

/** Asks which objects are read again. Only what this page paused is ticked: whether another was switched off nobody knows. */
export function Resume({ held, paused, isSaving, onResume }: ResumeProps): ReactNode {
  const t = useText();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const open = (): void => {
    setChosen(held.flatMap(({ objectName }) => (paused.includes(objectName) ? [objectName] : [])));
    dialog.current?.showModal();
  };
  const resume = (): void => {
    if (chosen.length === 0) return;
    dialog.current?.close();
    onResume(chosen);
  };
  return (
    <>
      <Button aria-disabled={isSaving} onClick={() => (isSaving ? undefined : open())}>
        {t('resume')}
      </Button>
      <dialog ref={dialog} className="svc-dialog" aria-labelledby={id}>
        <h2 id={id}>{t('resumeTitle')}</h2>
        <p>{t('resumeText')}</p>
        <ul>
          {held.map(({ objectName, label }) => (
            <li key={objectName}>
              <label className="svc-check">
                <input
                  type="checkbox"
                  checked={chosen.includes(objectName)}
                  onChange={({ target }) =>
                    setChosen([
                      ...chosen.filter((one) => one !== objectName),
                      ...(target.checked ? [objectName] : []),
                    ])
                  }
                />
                <bdi>{label}</bdi>
              </label>
            </li>
          ))}
        </ul>
        <div className="svc-actions svc-actions-end">
          <Button onClick={() => dialog.current?.close()}>{t('cancel')}</Button>
          <Button look="primary" disabled={chosen.length === 0} onClick={resume}>
            {t('resume')}
          </Button>
        </div>
      </dialog>
    </>
  );
}
