import type { Member } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { roleOptions, roles } from '../pages/people/roles.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

/** Gives somebody another role. */
export function ChangeRole(props: { project: string; member: Member; onClose: () => void }): ReactNode {
  const { project, member, onClose } = props;
  const [role, setRole] = useState(member.role);
  const { mutate, isPending, error } = useAct({
    project,
    nouns: ['members'],
    said: 'Changed',
    act: () =>
      answer(
        api.PATCH('/v1/projects/{projectIdOrName}/members/{personId}', {
          params: { path: { projectIdOrName: project, personId: member.id } },
          body: { role },
        }),
      ),
    onDone: onClose,
  });
  return (
    <Dialog title={`The role of ${member.email}`} isOpen onClose={onClose}>
      <Form
        submit="Save"
        isBusy={isPending}
        error={error}
        fields={['role']}
        disabledFor={role === member.role ? 'Choose another role' : undefined}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
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
