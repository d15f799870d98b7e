import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { generate } from 'lean-qr';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { sessionQuery } from '../data/session.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';

/** Sets up a second factor: the secret as a QR code, a first code of the app, then the recovery codes, once. */
export function AddSecondFactor({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const begun = useQuery({
    queryKey: ['second-factor'],
    queryFn: () => answer(api.POST('/v1/person/second-factor')),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const confirm = useMutation({
    mutationFn: () => answer(api.POST('/v1/person/second-factor:confirm', { body: { code: code.trim() } })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  if (confirm.data)
    return (
      <Dialog title="Keep your recovery codes" isOpen>
        <div className="stack">
          <p className="muted">
            Each of them stands for one code when your app is lost. They are shown only now.
          </p>
          <Code text={confirm.data.recoveryCodes.join('\n')} label="Recovery codes" />
          <div className="form-actions">
            <Button look="primary" onClick={onClose}>
              I have kept them
            </Button>
          </div>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Add a second factor" isOpen onClose={onClose}>
      {begun.error && <Problem error={begun.error} />}
      {begun.isLoading && <Loading />}
      {begun.data && (
        <Form
          submit="Add it"
          isBusy={confirm.isPending}
          error={confirm.error}
          fields={['code']}
          onSubmit={() => confirm.mutate()}
          onCancel={onClose}
        >
          <p className="muted">Scan this with an app for codes, or type the secret into it.</p>
          <Qr text={begun.data.uri} />
          <Code text={begun.data.secret} label="Secret" />
          <TextField
            label="Code that the app shows"
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            issue={issueAt(confirm.error, 'code')}
            onChange={setCode}
          />
        </Form>
      )}
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
