import * as ak from '@ariakit/react';
import type { ReactNode } from 'react';

export interface Option {
  value: string;
  label: string;
}

/** One of a few. In a bar of filters the empty value stands for any. */
export function Select(props: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  /** The label stands before the value, within the button. */
  isFilter?: boolean;
  id?: string;
}): ReactNode {
  const { label, value, options, onChange, isFilter = false, id } = props;
  const chosen = options.find((option) => option.value === value);
  return (
    <ak.SelectProvider value={value} setValue={onChange}>
      <ak.Select
        {...(id === undefined ? {} : { id })}
        className={isFilter ? 'select select-filter' : 'select'}
        {...(isFilter ? { 'aria-label': `${label}: ${chosen?.label ?? value}` } : {})}
        data-set={(isFilter && value !== '') || undefined}
      >
        {isFilter && <span className="select-label">{label}</span>}
        <span className="select-value">{chosen?.label ?? value}</span>
        <ak.SelectArrow />
      </ak.Select>
      <ak.SelectPopover gutter={4} portal className="popover">
        {options.map((option) => (
          <ak.SelectItem key={option.value} value={option.value} className="popover-item">
            {option.label}
            <ak.SelectItemCheck className="popover-check" />
          </ak.SelectItem>
        ))}
      </ak.SelectPopover>
    </ak.SelectProvider>
  );
}
