import type { ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'warning' | 'info' | 'neutral';

/** A short word of state, with a dot in its colour. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }): ReactNode {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}
