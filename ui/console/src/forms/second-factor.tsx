import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { NewSecondFactor } from '@svc/client';
import { generate } from 'lean-qr';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { sessionQuery } from '../data/session.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

/** Sets up a second factor: the password, the secret as a QR code, a first code of the app, then the recovery codes, once. */
export function AddSecondFactor(props: { hasPassword: boolean; onClose: () => void }): ReactNode {
  const { hasPassword, onClose } = props;
  const [begun, setBegun] = useState<NewSecondFactor>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes) return <Recovery codes={codes} onClose={onClose} />;
  return (
    <Dialog title="Add a second factor" isOpen onClose={onClose}>
      {begun ? (
        <Confirming begun={begun} onDone={setCodes} onClose={onClose} />
      ) : (
        <Beginning hasPassword={hasPassword} onDone={setBegun} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface Step<Result> {
  onDone: (result: Result) => void;
  onClose: () => void;
}

/** Whoever only found a browser that is signed in shuts nobody out of their account. */
function Beginning(props: Step<NewSecondFactor> & { hasPassword: boolean }): ReactNode {
  const { hasPassword, onDone, onClose } = props;
  const [password, setPassword] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => answer(api.POST('/v1/person/second-factor', { body: hasPassword ? { password } : {} })),
    onSuccess: onDone,
    gcTime: 0,
  });
  return (
    <Form
      submit="Go on"
      isBusy={isPending}
      error={error}
      fields={['password']}
      onSubmit={() => mutate()}
      onCancel={onClose}
    >
      <p className="muted">You need an app for codes. Signing in asks for one of its codes from then on.</p>
      {hasPassword && (
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          issue={issueAt(error, 'password')}
          onChange={setPassword}
        />
      )}
    </Form>
  );
}

function Confirming(props: Step<readonly string[]> & { begun: NewSecondFactor }): ReactNode {
  const { begun, onDone, onClose } = props;
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      answer(api.POST('/v1/person/second-factor:confirm', { body: { code: code.replaceAll(/\s/g, '') } })),
    onSuccess: async ({ recoveryCodes }) => {
      onDone(recoveryCodes);
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Form
      submit="Add it"
      isBusy={isPending}
      error={error}
      fields={['code']}
      onSubmit={() => mutate()}
      onCancel={onClose}
    >
      <p className="muted">Scan this with an app for codes, or type the secret into it.</p>
      <Qr text={begun.uri} />
      <Code text={begun.secret} label="Secret" />
      <TextField
        label="Code that the app shows"
        inputMode="numeric"
        autoComplete="one-time-code"
        value={code}
        issue={issueAt(error, 'code')}
        onChange={setCode}
      />
    </Form>
  );
}

function Recovery({ codes, onClose }: { codes: readonly string[]; onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keep your recovery codes" isOpen>
      <div className="stack">
        <p className="muted">
          Each of them stands for one code when your app is lost. They are shown only now.
        </p>
        <Code text={codes.join('\n')} label="Recovery codes" />
        <div className="form-actions">
          <Button look="primary" onClick={onClose}>
            I have kept them
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

const margin = 4;

function Qr({ text }: { text: string }): ReactNode {
  const code = generate(text);
  const line = Array.from({ length: code.size }, (_, index) => index);
  const path = line
    .flatMap((y) => line.filter((x) => code.get(x, y)).map((x) => `M${x + margin} ${y + margin}h1v1h-1z`))
    .join('');
  const side = code.size + 2 * margin;
  return (
    <svg className="qr" viewBox={`0 0 ${side} ${side}`} role="img" aria-label="QR code of the secret below">
      <path d={path} />
    </svg>
  );
}

/** Takes the second factor away, for who knows the password. */
export function RemoveSecondFactor(props: { hasPassword: boolean; onClose: () => void }): ReactNode {
  const { hasPassword, onClose } = props;
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      answer(api.POST('/v1/person/second-factor:remove', { body: hasPassword ? { password } : {} })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onClose();
    },
  });
  return (
    <Dialog title="Remove the second factor" isOpen onClose={onClose}>
      <Form
        submit="Remove it"
        look="danger"
        isBusy={isPending}
        error={error}
        fields={['password']}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <p className="muted">Whoever knows your password gets in without it from now on.</p>
        {hasPassword && (
          <TextField
            label="Password"
            type="password"
            autoComplete="current-password"
            value={password}
            issue={issueAt(error, 'password')}
            onChange={setPassword}
          />
        )}
      </Form>
    </Dialog>
  );
}
