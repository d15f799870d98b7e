import { Ellipsis } from 'lucide-react';
import type { ReactNode } from 'react';
import { Confirm } from '../../ui/confirm.tsx';
import { Menu } from '../../ui/menu.tsx';
import type { Column } from '../../ui/table.tsx';

interface Key {
  id: string;
  label: string;
  active: boolean;
}

/** The last column of a list of keys. */
export const keyActions = <Of extends Key>(
  turn: (key: Of) => void,
  remove: (key: Of) => void,
): Column<Of> => ({
  title: 'Actions',
  width: '5rem',
  align: 'end',
  cell: (key) => (
    <Menu
      label={`Actions of ${key.label}`}
      look="button button-quiet button-icon"
      button={<Ellipsis size={16} aria-hidden />}
      entries={[
        { label: key.active ? 'Turn off' : 'Turn on', onSelect: () => turn(key) },
        { label: 'Delete …', isDangerous: true, onSelect: () => remove(key) },
      ]}
    />
  ),
});

/** Asks before a key goes. */
export function DeleteKey(props: {
  of: Key;
  about: string;
  act: (id: string) => Promise<unknown>;
  onClose: () => void;
}): ReactNode {
  const { of, about, act, onClose } = props;
  return (
    <Confirm
      title={`Delete the key ${of.label}?`}
      verb="Delete the key"
      act={() => act(of.id)}
      onDone={onClose}
      onClose={onClose}
    >
      {about}
    </Confirm>
  );
}
