import { UserPlus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Invite } from '../../forms/invitation-create.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Invitations } from './invitations.tsx';
import { Members } from './members.tsx';

/** Who works with the project, and who is invited to. */
export function PeoplePage(): ReactNode {
  const project = useProject();
  const { filters, setFilters } = useFilters();
  const [isInviting, setInviting] = useState(false);
  const notAllowed = useNotAllowed(project, 'own');
  return (
    <Page
      title="People"
      about="Who works with this project, and what they may do in it."
      actions={
        <Button
          look="primary"
          icon={<UserPlus size={16} aria-hidden />}
          disabledFor={notAllowed}
          onClick={() => setInviting(true)}
        >
          Invite
        </Button>
      }
    >
      <Tabs
        label="Parts of the people"
        chosen={filters['tab'] ?? 'members'}
        onChoose={(tab) => setFilters({ tab: tab === 'members' ? '' : tab })}
        tabs={[
          { id: 'members', title: 'Members', content: <Members project={project} /> },
          { id: 'invitations', title: 'Invitations', content: <Invitations project={project} /> },
        ]}
      />
      {isInviting && <Invite project={project} onClose={() => setInviting(false)} />}
    </Page>
  );
}
