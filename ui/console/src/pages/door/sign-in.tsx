import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters } from '../../data/filters.ts';
import { enter } from '../../data/session.ts';
import { SignIn } from '../../forms/sign-in.tsx';
import { Door } from '../../shell/door.tsx';
import { Code } from '../../ui/code.tsx';
import { Notice } from '../../ui/notice.tsx';

/** What became of signing in elsewhere, and what to do, by the word in the address (`src/people/oidc/sign-in.ts`). */
const refusals: Partial<Record<string, { title: string; remedy: string }>> = {
  off: {
    title: 'Signing in elsewhere is not set up',
    remedy: 'Sign in with the password, or ask the operator to set SVC_OIDC_ISSUER.',
  },
  over: {
    title: 'The sign-in does not hold any more',
    remedy: 'It was used, took more than ten minutes, or began in another browser. Sign in again.',
  },
  denied: {
    title: 'You were not let in there',
    remedy: 'Sign in again and agree, or ask whoever manages your account there.',
  },
  failed: {
    title: 'Signing in elsewhere failed',
    remedy: 'Sign in again. If it happens again, the log of svc says why.',
  },
  slowed: {
    title: 'Signing in failed too often from this network',
    remedy: 'Sign in again in a quarter of an hour.',
  },
  unverified: {
    title: 'Your e-mail address is not verified there',
    remedy: 'Verify it there and sign in again, or use the link of your invitation.',
  },
  uninvited: {
    title: 'Nobody invited your e-mail address',
    remedy: 'Ask an owner of a project to invite the address that you have there, and sign in again.',
  },
};

/** Only to a path of our own. */
const ownPath = (path = '/'): string => (/^\/(?![/\\])/.test(path) ? path : '/');

export function SignInPage(): ReactNode {
  const { filters } = useFilters();
  const navigate = useNavigate();
  const options = useQuery({ queryKey: ['sign-in'], queryFn: () => answer(api.GET('/v1/sign-in')) });
  const returnTo = ownPath(filters['returnTo']);
  const refusal = refusals[filters['refused'] ?? ''];
  if (options.data?.hasPeople === false) return <NobodyYet />;
  return (
    <Door title="Sign in to svc">
      {refusal && (
        <Notice tone="warning" title={refusal.title}>
          {refusal.remedy}
        </Notice>
      )}
      <SignIn
        returnTo={returnTo}
        onDone={(signedIn) => void enter(signedIn).then(() => navigate({ href: returnTo, replace: true }))}
      />
    </Door>
  );
}

function NobodyYet(): ReactNode {
  return (
    <Door
      title="Nobody can sign in yet"
      about="The first start of svc printed a link for the first user. On the server, this prints a new one:"
    >
      <Code text="npx svc people invite --owner" label="Command" />
    </Door>
  );
}
