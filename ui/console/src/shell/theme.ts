import { createStore } from '../ui/store.ts';

export type Theme = 'auto' | 'light' | 'dark';

const key = 'svc-theme';
const isTheme = (value: string | null): value is Theme => ['auto', 'light', 'dark'].includes(value ?? '');

export const theme = createStore<Theme>('auto');

/** Shows what was chosen before, and from now on what is chosen. */
export function applyTheme(): void {
  const kept = localStorage.getItem(key);
  theme.subscribe(() => {
    document.documentElement.dataset['svcTheme'] = theme.get();
    localStorage.setItem(key, theme.get());
  });
  if (isTheme(kept)) theme.set(kept);
}
