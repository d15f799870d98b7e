import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CircleUser } from 'lucide-react';
import type { ReactNode } from 'react';
import { leave, sessionQuery } from '../data/session.ts';
import { Menu } from '../ui/menu.tsx';

export function AccountMenu(): ReactNode {
  const { data } = useQuery(sessionQuery);
  const navigate = useNavigate();
  const name = data?.person.name ?? data?.person.email ?? '';
  return (
    <Menu
      label={`Account: ${name}`}
      look="button button-quiet button-icon"
      button={<CircleUser size={18} aria-hidden />}
      entries={[
        { label: <span className="muted">{name}</span>, onSelect: () => void navigate({ to: '/account' }) },
        { label: 'Account', onSelect: () => void navigate({ to: '/account' }) },
        { label: 'Sign out', onSelect: () => void leave() },
      ]}
    />
  );
}
