import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { sessionQuery } from '../../data/session.ts';
import { CreateProject } from '../../forms/project-create.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';

const roles = { owner: 'Owner', developer: 'Developer', support: 'Support', viewer: 'Viewer' };

/** The projects of who is signed in. */
export function ProjectsPage(): ReactNode {
  const { data } = useQuery(sessionQuery);
  const [isCreating, setCreating] = useState(false);
  const projects = data?.projects ?? [];
  const notAllowed = data?.person.operator
    ? undefined
    : 'Only an operator of this installation makes projects';
  return (
    <Page
      title="Projects"
      actions={
        <Button
          look="primary"
          icon={<Plus size={16} aria-hidden />}
          disabledFor={notAllowed}
          onClick={() => setCreating(true)}
        >
          New project
        </Button>
      }
    >
      {projects.length === 0 && (
        <Empty title="You are in no project">Ask an owner of a project for an invitation to it.</Empty>
      )}
      <ul className="cards">
        {projects.map(({ id, name, appName, role }) => (
          <li key={id} className="card card-link">
            <Link to="/projects/$project" params={{ project: name }} className="row-link strong">
              {name}
            </Link>
            <p className="muted">{appName}</p>
            <Badge>{roles[role]}</Badge>
          </li>
        ))}
      </ul>
      {isCreating && <CreateProject onClose={() => setCreating(false)} />}
    </Page>
  );
}
