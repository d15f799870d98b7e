import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { createStore, useStore } from './store.ts';

const toasts = createStore<readonly { id: number; text: string }[]>([]);
let count = 0;

/** Says for a few seconds that something was done. What failed stays where it was tried. */
export function toast(text: string): void {
  count += 1;
  const id = count;
  toasts.set([...toasts.get(), { id, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), 5000);
}

export function Toasts(): ReactNode {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text }) => (
        <p key={id} className="toast">
          <CircleCheck size={16} aria-hidden />
          {text}
        </p>
      ))}
    </div>
  );
}
