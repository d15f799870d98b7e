import type { Installation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useNotAllowed } from '../../data/session.ts';
import { InstallationConfig } from '../../forms/installation-config.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Who } from '../people/who.tsx';

/** What the installation is configured to, and the form that changes it. */
export function ConfigTab(props: { project: string; installation: Installation }): ReactNode {
  const { project, installation } = props;
  const [isEditing, setEditing] = useState(false);
  const notAllowed = useNotAllowed(project, 'develop');
  const { content, createTime, createdBy } = installation.config;
  if (isEditing) return <InstallationConfig {...props} onClose={() => setEditing(false)} />;
  return (
    <Section
      title="Config"
      beside={
        <div className="row">
          <span className="muted">
            <Time at={createTime} look="full" /> by <Who by={createdBy} />
          </span>
          <Button disabledFor={notAllowed} onClick={() => setEditing(true)}>
            Change
          </Button>
        </div>
      }
    >
      <Code text={JSON.stringify(content)} label="Config" />
    </Section>
  );
}
