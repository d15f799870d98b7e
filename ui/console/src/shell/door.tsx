import type { ReactNode } from 'react';
import { Page } from '../ui/page.tsx';
import { Away } from './away.tsx';

/** The frame of pages that are seen before somebody is signed in. */
export function Door({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <div className="door">
      <Away />
      <main className="door-card card">
        <span className="mark" aria-hidden>
          s
        </span>
        <Page title={title} about={about}>
          {children}
        </Page>
      </main>
    </div>
  );
}
