import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { choosable, mostChosen } from '../state/questions.ts';
import { useText } from '../text/index.tsx';
import { matching, type Choice } from './field-picker.tsx';
import { Button } from './ui.tsx';

interface FieldListProps {
  choices: readonly Choice[];
  /** Those that can only be left out. */
  gone: readonly string[];
  /** All that is chosen, in sight or not. */
  chosen: readonly string[];
  isChosen: (value: string) => boolean;
  onChange: (values: readonly string[], chosen: boolean) => void;
}

const rowHeight = 40;
const rowsShown = 8;
/** Rows above and below the window. */
const spare = 4;
/** A short list needs no search. */
const searchedFrom = 9;

/** Fields to tick, found by typing. */
export function FieldList({ choices, gone, chosen, isChosen, onChange }: FieldListProps): ReactNode {
  const t = useText();
  const [text, setText] = useState('');
  const found = useMemo(() => matching(choices, text), [choices, text]);
  const names = found.map(({ value }) => value).filter((name) => !gone.includes(name));
  const next = choosable(names, chosen);
  const isFull = next.length < names.filter((name) => !isChosen(name)).length;
  // Nothing is left to be chosen: all of them are, or as many as may be.
  const isAll = names.length > 0 && next.length === 0;
  return (
    <div className="svc-list">
      {choices.length < searchedFrom ? null : (
        <div className="svc-list-head">
          <input
            className="svc-input"
            type="search"
            aria-label={t('searchField', { count: choices.length })}
            placeholder={t('searchField', { count: choices.length })}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button
            look="quiet"
            disabled={found.length === 0}
            onClick={() =>
              isAll
                ? onChange(
                    found.map(({ value }) => value),
                    false,
                  )
                : onChange(next, true)
            }
          >
            {t(isAll ? 'chooseNone' : 'chooseAll')}
          </Button>
        </div>
      )}
      {isFull && isAll ? <p className="svc-hint">{t('chosenMost', { count: mostChosen })}</p> : null}
      <Rows {...{ found, isChosen, onChange }} />
    </div>
  );
}

const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + rowsShown,
  PageUp: (at) => at - rowsShown,
  Home: () => 0,
  End: (_at, last) => last,
};

/** Only the rows in sight are there. The list is one stop of the Tab key; arrows move in it. */
function Rows({
  found,
  isChosen,
  onChange,
}: Pick<FieldListProps, 'isChosen' | 'onChange'> & { found: readonly Choice[] }): ReactNode {
  const t = useText();
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const toFocus = useRef(false);
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight), found.length - rowsShown) - spare);
  const shown = found.slice(first, first + rowsShown + 2 * spare);
  const stop = Math.min(Math.max(active, first), first + shown.length - 1);
  useEffect(() => {
    const box = toFocus.current
      ? list.current?.querySelector<HTMLInputElement>('input[tabindex="0"]')
      : undefined;
    if (!box) return;
    toFocus.current = false;
    box.focus({ preventScroll: true });
  });
  const move = (event: KeyboardEvent): void => {
    const next = moves[event.key]?.(stop, found.length - 1);
    if (next === undefined || !list.current) return;
    event.preventDefault();
    const at = Math.max(0, Math.min(next, found.length - 1));
    const { scrollTop } = list.current;
    const [above, below] = [at * rowHeight, (at + 1 - rowsShown) * rowHeight];
    list.current.scrollTop = Math.min(Math.max(scrollTop, below), above);
    setTop(list.current.scrollTop);
    setActive(at);
    toFocus.current = true;
  };
  return (
    <div
      ref={list}
      className="svc-list-window"
      style={{ maxHeight: rowHeight * rowsShown }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={move}
    >
      <ul style={{ height: found.length * rowHeight }}>
        {shown.map((choice, index) => (
          <Row
            key={choice.value}
            choice={choice}
            at={first + index}
            of={found.length}
            isStop={first + index === stop}
            isChosen={isChosen(choice.value)}
            onFocus={setActive}
            onChange={onChange}
          />
        ))}
      </ul>
      {found.length === 0 ? <p className="svc-picker-more">{t('noField')}</p> : null}
    </div>
  );
}

interface RowProps {
  choice: Choice;
  at: number;
  of: number;
  isStop: boolean;
  isChosen: boolean;
  onFocus: (at: number) => void;
  onChange: FieldListProps['onChange'];
}

function Row({ choice: { value, label, note }, at, of, isStop, isChosen, ...on }: RowProps): ReactNode {
  return (
    <li style={{ top: at * rowHeight, height: rowHeight }} aria-setsize={of} aria-posinset={at + 1}>
      <label className="svc-check">
        <input
          type="checkbox"
          tabIndex={isStop ? 0 : -1}
          checked={isChosen}
          onFocus={() => on.onFocus(at)}
          onChange={(event) => on.onChange([value], event.target.checked)}
        />
        <bdi>{label}</bdi>
        {label === value ? null : (
          <span className="svc-muted">
            <bdi>{value}</bdi>
          </span>
        )}
        {note ? <span className="svc-tag">{note}</span> : null}
      </label>
    </li>
  );
}
