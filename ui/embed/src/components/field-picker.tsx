import { useCombobox, type UseComboboxState, type UseComboboxStateChangeOptions } from 'downshift';
import { useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
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
  label: string;
  /** Stands in brackets behind the label. */
  mark?: string | undefined;
  hint?: string | undefined;
  choices: readonly Choice[];
  value: string | undefined;
  issue?: ReactNode;
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
export function FieldPicker(props: FieldPickerProps): ReactNode {
  const { label, mark, hint, value, issue, onChange } = props;
  const t = useText();
  const id = useId();
  const { setTyped, ...listed } = useListed(props);
  const { box } = listed;
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="svc-field svc-picker">
      <label {...box.getLabelProps()} className="svc-field-label">
        <bdi>{label}</bdi>
        {mark === undefined ? null : <span className="svc-muted"> ({mark})</span>}
      </label>
      {hint ? <p className="svc-hint">{hint}</p> : null}
      <div className="svc-picker-box">
        <input
          {...box.getInputProps({
            ref: input,
            onFocus: (event) => event.currentTarget.select(),
            onChange: (event) => setTyped(event.currentTarget.value),
            onKeyDown: leaveEscape(box.isOpen),
            'aria-invalid': issue ? true : undefined,
            'aria-describedby': issue ? id : undefined,
          })}
          className="svc-input"
          dir="auto"
          placeholder={t('searchField', { count: props.choices.length })}
        />
        {value === undefined ? null : (
          <button
            type="button"
            className="svc-picker-clear"
            aria-label={t('clear', { name: label })}
            onClick={() => {
              input.current?.focus();
              onChange(undefined);
            }}
          >
            ×
          </button>
        )}
        <Listed {...listed} value={value} />
      </div>
      {issue ? (
        <p className="svc-issue" id={id}>
          {issue}
        </p>
      ) : null}
    </div>
  );
}

/** Escape is of what is around, such as a dialog, where no list is open: the library would take it. */
const leaveEscape =
  (isOpen: boolean) =>
  ({ key, nativeEvent }: KeyboardEvent): void => {
    if (key === 'Escape' && !isOpen) Object.assign(nativeEvent, { preventDownshiftDefault: true });
  };

interface ListedProps extends Pick<ReturnType<typeof useListed>, 'box' | 'found' | 'shown'> {
  value: string | undefined;
}

/** The library, and the input that names it, expect the list to be there; what stands in it is made when it opens. */
function Listed({ box, ...listed }: ListedProps): ReactNode {
  // While it is closed the name of the field is that of the input alone.
  const props = box.getMenuProps(box.isOpen ? {} : { 'aria-labelledby': undefined });
  return (
    <div {...props} className="svc-picker-list" hidden={!box.isOpen}>
      {box.isOpen ? <Choices box={box} {...listed} /> : null}
    </div>
  );
}

function Choices({ box, found, shown, value }: ListedProps): ReactNode {
  const t = useText();
  return (
    <>
      {shown.map((choice, index) => (
        <div
          key={choice.value}
          {...box.getItemProps({ item: choice, index })}
          className={`svc-picker-item${choice.value === value ? ' svc-picker-chosen' : ''}`}
        >
          <bdi>{choice.label}</bdi>
          <span className="svc-muted">
            <bdi>{noteOf(choice)}</bdi>
          </span>
        </div>
      ))}
      {found.length > mostShown ? (
        <div className="svc-picker-more">{t('moreFields', { count: found.length - mostShown })}</div>
      ) : null}
      {found.length === 0 ? <div className="svc-picker-more">{t('noField')}</div> : null}
    </>
  );
}

function noteOf({ label, value, words, note }: Choice): string | undefined {
  return words !== undefined || label === value ? note : value;
}

/** What was typed and not chosen is no choice: where the list closes, the field shows again what is. */
function useListed({ choices, value, onChange }: FieldPickerProps) {
  const [typed, setTyped] = useState<string>();
  const found = useMemo(() => matching(choices, typed ?? ''), [choices, typed]);
  const shown = found.slice(0, mostShown);
  const chosen = choices.find((choice) => choice.value === value) ?? null;
  const box = useCombobox<Choice>({
    items: shown,
    itemToString: (choice) => choice?.label ?? '',
    itemToKey: (choice) => choice?.value,
    inputValue: typed ?? chosen?.label ?? value ?? '',
    selectedItem: chosen,
    defaultHighlightedIndex: 0,
    stateReducer: onlyByChoosing,
    onIsOpenChange: ({ isOpen }) => {
      if (!isOpen) setTyped(undefined);
    },
    onSelectedItemChange: ({ selectedItem }) => onChange(selectedItem?.value),
  });
  return { found, shown, setTyped, box };
}

const { InputBlur, InputClick, InputKeyDownEscape } = useCombobox.stateChangeTypes;

/** A field that is left, or Escape, closes the list and chooses nothing; a click into the field only opens it. */
function onlyByChoosing(
  { selectedItem }: UseComboboxState<Choice>,
  { type, changes }: UseComboboxStateChangeOptions<Choice>,
): Partial<UseComboboxState<Choice>> {
  if (type === InputBlur || type === InputKeyDownEscape) return { ...changes, selectedItem };
  return type === InputClick ? { ...changes, isOpen: true } : changes;
}
