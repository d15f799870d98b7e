import * as ak from '@ariakit/react';
import type { ReactNode } from 'react';

export interface MenuEntry {
  label: ReactNode;
  onSelect: () => void;
  isDangerous?: boolean;
}

/** A button that opens a list of things to do. */
export function Menu(props: {
  button: ReactNode;
  /** Of a button that is an icon; text names itself. */
  label?: string;
  look?: string;
  entries: readonly MenuEntry[];
}): ReactNode {
  return (
    <ak.MenuProvider>
      <ak.MenuButton className={props.look ?? 'button button-plain'} aria-label={props.label}>
        {props.button}
      </ak.MenuButton>
      <ak.Menu gutter={4} portal className="popover">
        {props.entries.map(({ label, onSelect, isDangerous = false }, index) => (
          <ak.MenuItem
            key={index}
            className={isDangerous ? 'popover-item popover-item-danger' : 'popover-item'}
            onClick={onSelect}
          >
            {label}
          </ak.MenuItem>
        ))}
      </ak.Menu>
    </ak.MenuProvider>
  );
}
