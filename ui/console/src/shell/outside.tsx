import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AccountMenu } from './account-menu.tsx';
import { Away } from './away.tsx';
import { ThemeMenu } from './theme-menu.tsx';

/** What surrounds the pages that belong to no project. */
export function Outside(): ReactNode {
  return (
    <div className="main outside">
      <header className="bar">
        <Link to="/" className="outside-home">
          <span className="mark" aria-hidden>
            s
          </span>
          svc
        </Link>
        <div className="bar-end">
          <ThemeMenu />
          <AccountMenu />
        </div>
      </header>
      <Away />
      <main id="content" className="content" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}
