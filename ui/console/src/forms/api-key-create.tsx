import type { ApiKey } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { useNotAllowed } from '../data/session.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { endOfDay } from './dates.ts';

type Scope = ApiKey['scopes'][number];

/** What a key may do, for people; what concerns all projects is given by the operator's command. */
export const scopes: readonly [Scope, string, string][] = [
  ['write', 'Write', 'Writes records to the accounts of customers, and sees what became of them.'],
  ['read', 'Read', 'Reads records, and sees everything of the project but secrets.'],
  ['proxy', 'Proxy', 'Calls providers directly, with the credentials of customers.'],
  ['frontend', 'Frontend', 'Connects accounts and installs, as the components in a browser do.'],
  ['view', 'View', 'Sees what the console shows, and changes nothing.'],
  ['remediate', 'Remediate', 'Retries, resolves, replays and pauses.'],
  ['develop', 'Develop', 'Everything but people and keys with all rights.'],
  ['full', 'Full', 'Everything in this project.'],
];

/** Makes an API key, and shows it once. */
export function CreateApiKey({ project, onClose }: { project: string; onClose: () => void }): ReactNode {
  const [label, setLabel] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['write']);
  const [groupRef, setGroupRef] = useState('');
  const [until, setUntil] = useState('');
  const { mutate, data, isPending, error } = useCreate(project);
  if (data) return <MadeKey apiKey={data} onClose={onClose} />;
  return (
    <Dialog title="New API key" isOpen onClose={onClose}>
      <Form
        submit="Make the key"
        isBusy={isPending}
        error={error}
        fields={['label', 'groupRef', 'expiresAt']}
        disabledFor={chosen.length === 0 ? 'Choose what it may do' : undefined}
        onSubmit={() => mutate({ label, chosen, groupRef, until })}
        onCancel={onClose}
      >
        <TextField
          label="Label"
          hint="Where it is used, such as backend in production."
          required
          autoFocus
          value={label}
          issue={issueAt(error, 'label')}
          onChange={setLabel}
        />
        <Scopes project={project} chosen={chosen} onChoose={setChosen} />
        <TextField
          label="Only for the group"
          hint="The reference of one of your customers. Empty: for all of them."
          value={groupRef}
          issue={issueAt(error, 'groupRef')}
          onChange={setGroupRef}
        />
        <TextField
          label="Holds until"
          hint="Empty: until it is deleted."
          type="date"
          value={until}
          issue={issueAt(error, 'expiresAt')}
          onChange={setUntil}
        />
      </Form>
    </Dialog>
  );
}

interface Given {
  label: string;
  chosen: readonly Scope[];
  groupRef: string;
  until: string;
}

const useCreate = (project: string) =>
  useAct({
    project,
    nouns: ['api-keys'],
    act: ({ label, chosen, groupRef, until }: Given) => {
      const expiresAt = endOfDay(until);
      return answer(
        api.POST('/v1/projects/{projectIdOrName}/api-keys', {
          params: { path: { projectIdOrName: project } },
          body: {
            label,
            scopes: [...chosen],
            ...(groupRef ? { groupRef } : {}),
            ...(expiresAt === undefined ? {} : { expiresAt }),
          },
        }),
      );
    },
  });

function Scopes(props: {
  project: string;
  chosen: readonly Scope[];
  onChoose: (scopes: readonly Scope[]) => void;
}): ReactNode {
  const { project, chosen, onChoose } = props;
  const notOwner = useNotAllowed(project, 'own');
  const offered = scopes.filter(([scope]) => scope !== 'full' || notOwner === undefined);
  const toggle = (scope: Scope, isOn: boolean): void =>
    onChoose(isOn ? [...chosen, scope] : chosen.filter((one) => one !== scope));
  return (
    <fieldset className="stack stack-tight">
      <legend className="legend">What it may do</legend>
      {offered.map(([scope, title, hint]) => (
        <CheckField
          key={scope}
          label={title}
          hint={hint}
          checked={chosen.includes(scope)}
          onChange={(isOn) => toggle(scope, isOn)}
        />
      ))}
    </fieldset>
  );
}

function MadeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }): ReactNode {
  return (
    <Dialog title={`The key ${apiKey.label}`} isOpen>
      <div className="stack">
        <p className="muted">It is shown only now: copy it to where it is used.</p>
        <Code text={apiKey.key ?? ''} label="Key" />
        <div className="form-actions">
          <Button look="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
