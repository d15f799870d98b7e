import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useLive } from '../data/live.ts';
import { useProject } from '../data/project.ts';
import { useHolding } from '../data/holding.ts';
import { IconButton } from '../ui/button.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Away } from './away.tsx';
import { rememberProject } from './last-project.ts';
import { Lost, NotFound } from './lost.tsx';
import { nav } from './nav.ts';
import { Search } from './search.tsx';
import { ProjectMenu } from './project-menu.tsx';
import { useFollowed } from './renamed.ts';
import { ThemeMenu } from './theme-menu.tsx';

/** What surrounds every page of a project. */
export function Layout(): ReactNode {
  const project = useProject();
  const [isNavOpen, setNavOpen] = useState(false);
  const { pathname } = useLocation();
  const membership = useFollowed(project);
  const isHolding = useHolding();
  useLive(project);
  useEffect(() => rememberProject(project), [project]);
  useEffect(() => setNavOpen(false), [pathname]);
  if (!membership && !isHolding) return <NotFound what="project" />;
  return (
    <div className="shell" data-nav-open={isNavOpen || undefined}>
      <a className="skip" href="#content">
        To the content
      </a>
      <Side project={project} />
      <div className="side-veil" aria-hidden onClick={() => setNavOpen(false)} />
      <div className="main">
        <header className="bar">
          <IconButton
            label="Pages"
            className="bar-nav"
            aria-expanded={isNavOpen}
            onClick={() => setNavOpen(!isNavOpen)}
            icon={<MenuIcon size={18} aria-hidden />}
          />
          <Search project={project} />
          <div className="bar-end">
            <ThemeMenu />
            <AccountMenu />
          </div>
        </header>
        <Away />
        {!membership && <Lost />}
        <main id="content" className="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  );
}

function Side({ project }: { project: string }): ReactNode {
  return (
    <aside className="side">
      <div className="side-head">
        <ProjectMenu project={project} />
      </div>
      <nav aria-label="Pages of the project">
        {nav.map(({ title, items }) => (
          <div key={title ?? ''} className="side-group">
            {title && <p className="side-title">{title}</p>}
            {items.map(({ label, to, icon: Icon }) => (
              <Link
                key={label}
                to={to}
                params={{ project } as never}
                className="side-link"
                activeProps={{ 'aria-current': 'page' }}
              >
                <Icon size={16} aria-hidden />
                {label}
              </Link>
            ))}
          </div>
        ))}
      </nav>
    </aside>
  );
}
