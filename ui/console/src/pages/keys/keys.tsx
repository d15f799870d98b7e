import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { CreateApiKey } from '../../forms/api-key-create.tsx';
import { CreateJwtKey } from '../../forms/jwt-key-create.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ApiKeys } from './api-keys.tsx';
import { JwtKeys } from './jwt-keys.tsx';

/** With what programs are let in: keys of servers, and public keys for tokens of front ends. */
export function KeysPage(): ReactNode {
  const project = useProject();
  const { filters, setFilters } = useFilters();
  const [isMaking, setMaking] = useState(false);
  const notAllowed = useNotAllowed(project, 'develop');
  const isPublic = filters['tab'] === 'public';
  const close = (): void => setMaking(false);
  return (
    <Page
      title="Keys"
      about="API keys are for your servers. Public keys check the tokens that your front end makes for a person."
      actions={
        <Button
          look="primary"
          icon={<Plus size={16} aria-hidden />}
          disabledFor={notAllowed}
          onClick={() => setMaking(true)}
        >
          {isPublic ? 'New public key' : 'New API key'}
        </Button>
      }
    >
      <Tabs
        label="Kinds of keys"
        chosen={isPublic ? 'public' : 'api'}
        onChoose={(tab) => setFilters({ tab: tab === 'api' ? '' : tab })}
        tabs={[
          { id: 'api', title: 'API keys', content: <ApiKeys project={project} /> },
          { id: 'public', title: 'Public keys', content: <JwtKeys project={project} /> },
        ]}
      />
      {isMaking &&
        (isPublic ? (
          <CreateJwtKey project={project} onClose={close} />
        ) : (
          <CreateApiKey project={project} onClose={close} />
        ))}
    </Page>
  );
}
