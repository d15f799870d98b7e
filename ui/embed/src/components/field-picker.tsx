import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider } from '@ariakit/react';
import { useDeferredValue, useId, useMemo, useState, type ReactNode } from 'react';
import { useText } from '../text/index.tsx';

export interface Choice {
  value: string;
  label: string;
  /** Shown beside the label, such as the kind of a field. */
  note?: string | undefined;
}

interface FieldPickerProps {
  label: ReactNode;
  hint?: string | undefined;
  choices: readonly Choice[];
  value: string | undefined;
  issue?: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** More are never shown at once: a person types on. */
const mostShown = 50;

/** The choices that hold every word of the text, those that begin with it first. */
export function matching(choices: readonly Choice[], text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...choices];
  const found = choices.filter(({ value, label }) => {
    const hay = `${label} ${value}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
  const rank = ({ label, value }: Choice): number =>
    label.toLowerCase().startsWith(words[0] ?? '') || value.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1;
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** One of many fields, found by typing. */
export function FieldPicker({ label, hint, choices, value, issue, onChange }: FieldPickerProps): ReactNode {
  const t = useText();
  const id = useId();
  const chosen = choices.find((choice) => choice.value === value);
  const shownValue = chosen?.label ?? value ?? '';
  const [typed, setTyped] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const text = useDeferredValue(typed ?? '');
  const close = (): void => {
    setOpen(false);
    setTyped(undefined);
  };
  const choose = (next: string | undefined): void => {
    onChange(next);
    close();
  };
  return (
    <div className="svc-field svc-picker">
      <label className="svc-field-label" htmlFor={id}>
        {label}
      </label>
      {hint ? <p className="svc-hint">{hint}</p> : null}
      <ComboboxProvider
        open={isOpen}
        setOpen={(open) => (open ? setOpen(true) : close())}
        value={typed ?? shownValue}
        setValue={setTyped}
        selectedValue={value ?? ''}
        setSelectedValue={(next) => choose(next)}
      >
        <div className="svc-picker-box">
          <Combobox
            id={id}
            className="svc-input"
            dir="auto"
            autoSelect
            placeholder={t('searchField', { count: choices.length })}
            aria-invalid={issue ? true : undefined}
            aria-describedby={issue ? `${id}-issue` : undefined}
            onFocus={(event) => event.currentTarget.select()}
          />
          {value === undefined ? null : (
            <button
              type="button"
              className="svc-picker-clear"
              aria-label={t('clear')}
              onClick={() => choose(undefined)}
            >
              ×
            </button>
          )}
          {isOpen ? <Options choices={choices} text={text} /> : null}
        </div>
      </ComboboxProvider>
      {issue ? <Issue id={`${id}-issue`} text={issue} /> : null}
    </div>
  );
}

function Issue({ id, text }: { id: string; text: string }): ReactNode {
  return (
    <p className="svc-issue" id={id}>
      {text}
    </p>
  );
}

function Options({ choices, text }: { choices: readonly Choice[]; text: string }): ReactNode {
  const t = useText();
  const found = useMemo(() => matching(choices, text), [choices, text]);
  return (
    <ComboboxList className="svc-picker-list" alwaysVisible>
      {found.slice(0, mostShown).map((choice) => (
        <ComboboxItem
          key={choice.value}
          className="svc-picker-item"
          value={choice.value}
          setValueOnClick={false}
        >
          <bdi>{choice.label}</bdi>
          <span className="svc-muted">
            <bdi>{choice.label === choice.value ? choice.note : choice.value}</bdi>
          </span>
        </ComboboxItem>
      ))}
      {found.length > mostShown ? (
        <div className="svc-picker-more">{t('moreFields', { count: found.length - mostShown })}</div>
      ) : null}
      {found.length === 0 ? <div className="svc-picker-more">{t('noField')}</div> : null}
    </ComboboxList>
  );
}
