import { useMutation, useQuery } from '@tanstack/react-query';
import type { SignedIn } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

/** By e-mail address and password, then the code where the person has a second factor; or elsewhere, by the button of it. */
export function SignIn(props: {
  /** Where signing in elsewhere leads back to. */
  returnTo: string;
  /** Of whom is asked again. */
  email?: string | undefined;
  onDone: (signedIn: SignedIn) => void;
}): ReactNode {
  const { returnTo, onDone } = props;
  const [email, setEmail] = useState(props.email ?? '');
  const [password, setPassword] = useState('');
  const options = useQuery({
    queryKey: ['sign-in'],
    queryFn: () => answer(api.GET('/v1/sign-in')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const send = useMutation({
    mutationFn: () => answer(api.POST('/v1/session', { body: { email, password } })),
    onSuccess: (told) => told.state === 'signedIn' && onDone(told),
  });
  const oidc = options.data?.oidc;
  if (send.data?.state === 'secondFactor') return <SecondFactor onDone={onDone} />;
  return (
    <div className="stack">
      <Form
        submit="Sign in"
        isBusy={send.isPending}
        error={send.error}
        fields={['email', 'password']}
        onSubmit={() => send.mutate()}
      >
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus={!email}
          value={email}
          issue={issueAt(send.error, 'email')}
          onChange={setEmail}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          autoFocus={email !== ''}
          value={password}
          issue={issueAt(send.error, 'password')}
          onChange={setPassword}
        />
      </Form>
      {oidc && (
        <a className="button" href={`${oidc.startUrl}?${new URLSearchParams({ returnTo }).toString()}`}>
          Sign in with {oidc.name}
        </a>
      )}
    </div>
  );
}

/** The code of the app, or one of the recovery codes. */
export function SecondFactor({ onDone }: { onDone: (signedIn: SignedIn) => void }): ReactNode {
  const [typed, setTyped] = useState('');
  // Apps show the digits in groups.
  const code = typed.replaceAll(/\s/g, '');
  const send = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/session:verify', {
          body: /^\d{6}$/.test(code) ? { code } : { recoveryCode: code },
        }),
      ),
    onSuccess: (told) => told.state === 'signedIn' && onDone(told),
  });
  const issue = issueAt(send.error, 'code') ?? issueAt(send.error, 'recoveryCode');
  return (
    <Form
      submit="Go on"
      isBusy={send.isPending}
      error={send.error}
      fields={['code', 'recoveryCode']}
      onSubmit={() => send.mutate()}
    >
      <TextField
        label="Code"
        hint="The six digits that your app shows, or one of your recovery codes."
        autoComplete="one-time-code"
        autoFocus
        value={typed}
        issue={issue}
        onChange={setTyped}
      />
    </Form>
  );
}
