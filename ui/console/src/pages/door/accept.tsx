import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { AcceptInvitationRequest, InvitationLook, SignedIn } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { enter } from '../../data/session.ts';
import { SecondFactor } from '../../forms/sign-in.tsx';
import { Door } from '../../shell/door.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, issueAt } from '../../ui/form.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';

const leastPassword = 12;

/** The token stands behind the `#`, where no server and no log sees it. */
const tokenOf = (): string => new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

/** Where the links lead that let somebody in: the first user, one who was invited, one who lost their password. */
export function AcceptPage(): ReactNode {
  const [token] = useState(tokenOf);
  const { data: look, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => answer(api.POST('/v1/invitations:look', { body: { token } })),
    enabled: token.length >= 20,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (token.length < 20)
    return (
      <Door
        title="This link is not whole"
        about="Open the whole link, with what stands behind the #. Some programs cut it off."
      >
        {null}
      </Door>
    );
  if (error)
    return (
      <Door title="This link cannot be used">
        <Problem error={error} />
      </Door>
    );
  if (!look)
    return (
      <Door title="One moment">
        <Loading />
      </Door>
    );
  return <Accept token={token} look={look} />;
}

function titleOf({ kind, project, isKnown }: InvitationLook): [title: string, about: string] {
  if (kind === 'welcome')
    return [
      'Welcome to svc',
      'You are the first user, and own the project that is there. Choose how you sign in.',
    ];
  if (kind === 'reset') return ['Choose a new password', 'You are signed in with it at once.'];
  const name = project?.appName ?? project?.name ?? '';
  return isKnown
    ? [`Join ${name}`, 'You have an account here. Your password joins the project to it.']
    : [`Join ${name}`, 'Choose a password for your account.'];
}

/** Where the link leads: the project that somebody was invited to, or what they may see. */
const leadsTo = ({ project }: InvitationLook): string =>
  project ? `/projects/${encodeURIComponent(project.name)}` : '/';

/** Accepts, and goes in; who has a second factor by that. */
function useAccept(look: InvitationLook, body: AcceptInvitationRequest) {
  const navigate = useNavigate();
  const goIn = async (signedIn: SignedIn): Promise<void> => {
    await enter(signedIn);
    await navigate({ href: leadsTo(look), replace: true });
  };
  const accept = useMutation({
    mutationFn: () => answer(api.POST('/v1/invitations:accept', { body })),
    onSuccess: (told) => (told.state === 'signedIn' ? goIn(told) : undefined),
  });
  return { accept, goIn };
}

function Accept({ token, look }: { token: string; look: InvitationLook }): ReactNode {
  const [email, setEmail] = useState(look.email ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isOld = look.kind === 'invitation' && look.isKnown;
  const isNew = look.kind !== 'reset' && !isOld;
  const { accept, goIn } = useAccept(look, {
    token,
    password,
    ...(look.email === undefined ? { email } : {}),
    ...(isNew && name ? { name } : {}),
  });
  const [title, about] = titleOf(look);
  if (accept.data?.state === 'secondFactor')
    return (
      <Door title={title} about="Your password is right. Your second factor lets you in.">
        <SecondFactor onDone={(signedIn) => void goIn(signedIn)} />
      </Door>
    );
  return (
    <Door title={title} about={about}>
      <Form
        submit={look.kind === 'reset' ? 'Set the password' : 'Go on'}
        isBusy={accept.isPending}
        error={accept.error}
        fields={['email', 'name', 'password']}
        onSubmit={() => accept.mutate()}
      >
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          readOnly={look.email !== undefined}
          value={email}
          issue={issueAt(accept.error, 'email')}
          onChange={setEmail}
        />
        {isNew && (
          <TextField
            label="Name"
            hint="As others see you; may be left empty."
            autoComplete="name"
            value={name}
            issue={issueAt(accept.error, 'name')}
            onChange={setName}
          />
        )}
        <Password
          isOld={isOld}
          value={password}
          issue={issueAt(accept.error, 'password')}
          onChange={setPassword}
        />
      </Form>
    </Door>
  );
}

function Password(props: {
  isOld: boolean;
  value: string;
  issue: string | undefined;
  onChange: (value: string) => void;
}): ReactNode {
  const { isOld, ...rest } = props;
  return (
    <TextField
      label="Password"
      type="password"
      {...(isOld ? {} : { hint: `At least ${leastPassword} characters. A sentence is easy to remember.` })}
      autoComplete={isOld ? 'current-password' : 'new-password'}
      required
      {...rest}
    />
  );
}
