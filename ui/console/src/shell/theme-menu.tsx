import { Monitor, Moon, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { Menu } from '../ui/menu.tsx';
import { useStore } from '../ui/store.ts';
import { theme, type Theme } from './theme.ts';

const icons = { auto: Monitor, light: Sun, dark: Moon };
const names: Record<Theme, string> = { auto: 'As the system', light: 'Light', dark: 'Dark' };

export function ThemeMenu(): ReactNode {
  const chosen = useStore(theme);
  const Icon = icons[chosen];
  return (
    <Menu
      label={`Colours: ${names[chosen]}`}
      look="button button-quiet button-icon"
      button={<Icon size={16} aria-hidden />}
      entries={(Object.keys(names) as Theme[]).map((name) => ({
        label: names[name],
        onSelect: () => theme.set(name),
      }))}
    />
  );
}
