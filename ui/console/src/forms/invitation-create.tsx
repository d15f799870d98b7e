import type { Member } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { roleOptions, roles } from '../pages/people/roles.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

/** Invites somebody by a link, and shows it once. */
export function Invite({ project, onClose }: { project: string; onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Member['role']>('support');
  const { mutate, data, isPending, error } = useAct({
    project,
    nouns: ['invitations'],
    act: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/invitations', {
          params: { path: { projectIdOrName: project } },
          body: { email, role },
        }),
      ),
  });
  if (data)
    return (
      <Dialog title={`The link for ${data.email}`} isOpen>
        <div className="stack">
          <p className="muted">It is shown only now, and lets one person in, once. Send it to nobody else.</p>
          <Code text={data.url ?? ''} label="Link" />
          <div className="form-actions">
            <Button look="primary" onClick={onClose}>
              I have copied it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Invite somebody" isOpen onClose={onClose}>
      <Form
        submit="Make the link"
        isBusy={isPending}
        error={error}
        fields={['email', 'role']}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <TextField
          label="E-mail"
          type="email"
          required
          autoFocus
          value={email}
          issue={issueAt(error, 'email')}
          onChange={setEmail}
        />
        <SelectField
          label="Role"
          hint={roles[role][1]}
          value={role}
          options={roleOptions}
          issue={issueAt(error, 'role')}
          onChange={(value) => setRole(value as Member['role'])}
        />
      </Form>
    </Dialog>
  );
}
