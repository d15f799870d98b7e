import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';

/** Of an address that leads nowhere, and of an id that is of nobody or of somebody else. */
export function NotFound({ what = 'page' }: { what?: string }): ReactNode {
  return (
    <main className="lost">
      <Page title="Not found">
        <p className="muted">There is no such {what}, or you may not see it.</p>
        <p>
          <Link to="/">To your projects</Link>
        </p>
      </Page>
    </main>
  );
}

/** Of a page in which text was typed when its project went. */
export function Lost(): ReactNode {
  return (
    <p className="away" role="status">
      <span>
        You are no member of this project any more, or it is gone. What you typed is still here, and can be
        copied. <Link to="/">To your projects</Link>
      </span>
    </p>
  );
}

/** Of a page whose code failed. */
export function Crashed({ error, reset }: { error: unknown; reset: () => void }): ReactNode {
  return (
    <main className="lost">
      <Page title="This page stopped working">
        <p className="muted">{error instanceof Error ? error.message : String(error)}</p>
        <Button onClick={reset}>Show it again</Button>
      </Page>
    </main>
  );
}
