import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextArea, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { endOfDay } from './dates.ts';

const nothing = { label: '', publicKeyPem: '', issuer: '', audience: '', until: '' };
type Given = typeof nothing;

/** Registers a public key, whose tokens let the builder's front end in. */
export function CreateJwtKey({ project, onClose }: { project: string; onClose: () => void }): ReactNode {
  const [given, setGiven] = useState(nothing);
  const set = (name: keyof Given) => (value: string) => setGiven({ ...given, [name]: value });
  const { mutate, isPending, error } = useCreate(project, onClose);
  const field = (name: keyof Given) => ({
    value: given[name],
    issue: issueAt(error, name === 'until' ? 'expiresAt' : name),
    onChange: set(name),
  });
  return (
    <Dialog title="New public key" isOpen onClose={onClose} isWide>
      <Form
        submit="Register the key"
        isBusy={isPending}
        error={error}
        fields={['label', 'publicKeyPem', 'issuer', 'audience', 'expiresAt']}
        onSubmit={() => mutate(given)}
        onCancel={onClose}
      >
        <TextField label="Label" required autoFocus {...field('label')} />
        <TextArea
          label="Public key (PEM)"
          hint="Of an RSA pair of 2048 bits or more: openssl rsa -in private.pem -pubout. The private one stays with you."
          {...field('publicKeyPem')}
        />
        <TextField
          label="Issuer"
          hint="The iss that its tokens must have. Empty: any."
          {...field('issuer')}
        />
        <TextField
          label="Audience"
          hint="The aud that its tokens must have. Empty: any."
          {...field('audience')}
        />
        <TextField label="Holds until" hint="Empty: until it is deleted." type="date" {...field('until')} />
      </Form>
    </Dialog>
  );
}

const useCreate = (project: string, onDone: () => void) =>
  useAct({
    project,
    nouns: ['jwt-keys'],
    said: 'Registered',
    act: ({ label, publicKeyPem, issuer, audience, until }: Given) => {
      const expiresAt = endOfDay(until);
      return answer(
        api.POST('/v1/projects/{projectIdOrName}/jwt-keys', {
          params: { path: { projectIdOrName: project } },
          body: {
            label,
            algorithm: 'RS256',
            publicKeyPem,
            ...(issuer ? { issuer } : {}),
            ...(audience ? { audience } : {}),
            ...(expiresAt === undefined ? {} : { expiresAt }),
          },
        }),
      );
    },
    onDone,
  });
