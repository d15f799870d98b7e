import { X } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useFilters } from '../data/filters.ts';
import { Button } from './button.tsx';
import { Select } from './select.tsx';

/** The filters of a list. They stand in the address of the page. */
export function FilterBar({ names, children }: { names: readonly string[]; children: ReactNode }): ReactNode {
  const { filters, setFilters } = useFilters();
  const set = names.filter((name) => filters[name]);
  return (
    <search className="filters">
      {children}
      {set.length > 0 && (
        <Button
          look="quiet"
          icon={<X size={14} aria-hidden />}
          onClick={() => setFilters(Object.fromEntries(set.map((name) => [name, ''])))}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

/** `options`: what the API calls it, and what people do. */
export function FilterSelect(props: {
  name: string;
  label: string;
  options: Readonly<Record<string, string>>;
}): ReactNode {
  const { filters, setFilters } = useFilters();
  const options = Object.entries(props.options).map(([value, label]) => ({ value, label }));
  return (
    <Select
      isFilter
      label={props.label}
      value={filters[props.name] ?? ''}
      options={[{ value: '', label: 'Any' }, ...options]}
      onChange={(value) => setFilters({ [props.name]: value })}
    />
  );
}

/** Text that is looked for a moment after the last key. */
export function FilterText({ name, label }: { name: string; label: string }): ReactNode {
  const { filters, setFilters } = useFilters();
  const current = filters[name] ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  useEffect(() => {
    if (text === current) return undefined;
    const timer = setTimeout(() => setFilters({ [name]: text.trim() }), 350);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [text]);
  return (
    <input
      className="input input-filter"
      value={text}
      placeholder={label}
      aria-label={label}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

/** A day in the zone of who looks; the address has the moment at which it begins, or ends. */
export function FilterDay(props: { name: string; label: string; isEnd?: boolean }): ReactNode {
  const { name, label, isEnd = false } = props;
  const { filters, setFilters } = useFilters();
  const at = filters[name];
  const set = (day: string): void => {
    const moment = new Date(`${day}T${isEnd ? '23:59:59.999' : '00:00:00'}`);
    setFilters({ [name]: day === '' || Number.isNaN(moment.getTime()) ? '' : moment.toISOString() });
  };
  return (
    <label className="filter-day">
      <span className="select-label">{label}</span>
      <input
        type="date"
        className="input input-filter"
        value={at ? dayOf(new Date(at)) : ''}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  );
}

/** As a field of type `date` takes it; nothing of what is no time. */
const dayOf = (at: Date): string =>
  Number.isNaN(at.getTime())
    ? ''
    : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
