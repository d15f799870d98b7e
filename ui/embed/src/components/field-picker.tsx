import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider } from '@ariakit/react';
import { useId, useMemo, useState, type FocusEvent, type ReactNode } from 'react';
import { useText } from '../text/index.tsx';

export interface Choice {
  value: string;
  label: string;
  /** Shown beside the label, such as the kind of a field. */
  note?: string | undefined;
  /** By what it is found, too; default: its value. */
  words?: string | undefined;
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

/** The choices that hold every word of the text: first what is called so, then what begins with it. */
export function matching(choices: readonly Choice[], text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...choices];
  const found = choices.filter((choice) => {
    const hay = `${choice.label} ${choice.words ?? choice.value}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
  const whole = words.join(' ');
  const rank = (choice: Choice): number => {
    const names = [choice.label.toLowerCase(), (choice.words ?? choice.value).toLowerCase().trim()];
    if (names.includes(whole)) return 0;
    return names.some((name) => name.startsWith(words[0] ?? '')) ? 1 : 2;
  };
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** One of many fields, found by typing. */
export function FieldPicker({ label, hint, choices, value, issue, onChange }: FieldPickerProps): ReactNode {
  const t = useText();
  const id = useId();
  const chosen = choices.find((choice) => choice.value === value);
  const shownValue = chosen?.label ?? value ?? '';
  const { typed, setTyped, isOpen, setOpen, leave } = useTyping();
  const choose = (next: string | undefined): void => {
    onChange(next);
    setOpen(false);
  };
  return (
    <div className="svc-field svc-picker" onBlur={leave}>
      <label className="svc-field-label" htmlFor={id}>
        {label}
      </label>
      {hint ? <p className="svc-hint">{hint}</p> : null}
      <ComboboxProvider
        // Arrows stay among the choices: one of them is always taken with Enter.
        includesBaseElement={false}
        open={isOpen}
        setOpen={setOpen}
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
          {isOpen ? <Options choices={choices} text={typed ?? ''} /> : null}
        </div>
      </ComboboxProvider>
      {issue ? <Issue id={`${id}-issue`} text={issue} /> : null}
    </div>
  );
}

/** What was typed and not chosen is no choice: where the list closes, the field shows again what is. */
function useTyping() {
  const [typed, setTyped] = useState<string>();
  const [isOpen, setShown] = useState(false);
  const setOpen = (open: boolean): void => {
    setShown(open);
    if (!open) setTyped(undefined);
  };
  const leave = (event: FocusEvent): void => {
    if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
  };
  return { typed, setTyped, isOpen, setOpen, leave };
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
            <bdi>
              {choice.words !== undefined || choice.label === choice.value ? choice.note : choice.value}
            </bdi>
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
