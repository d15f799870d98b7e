import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { sessionQuery } from '../data/session.ts';
import { Menu } from '../ui/menu.tsx';

/** Which project is looked at, and the way to the others. */
export function ProjectMenu({ project }: { project: string }): ReactNode {
  const { data } = useQuery(sessionQuery);
  const navigate = useNavigate();
  const projects = data?.projects ?? [];
  return (
    <Menu
      look="side-project"
      button={
        <>
          <span className="mark" aria-hidden>
            {project.slice(0, 1)}
          </span>
          <span className="side-project-name">{project}</span>
          <ChevronsUpDown size={14} aria-hidden />
        </>
      }
      entries={[
        ...projects.map(({ name }) => ({
          label: name,
          onSelect: () => void navigate({ to: '/projects/$project', params: { project: name } }),
        })),
        {
          label: <span className="muted">All projects …</span>,
          onSelect: () => void navigate({ to: '/projects' }),
        },
      ]}
    />
  );
}
