import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isSignedOut } from '../data/api.ts';
import { enter, sessionQuery } from '../data/session.ts';
import { SignIn } from '../forms/sign-in.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';
import { useStore } from '../ui/store.ts';
import { Away } from './away.tsx';
import { AskBeforeLeaving } from './ask-before-leaving.tsx';

/** What who is signed in sees. When the session ends under one's feet, the page stays as it is, and one signs in again above it. */
export function SessionGate(): ReactNode {
  const { data, error, refetch } = useQuery(sessionQuery);
  const { href } = useLocation();
  if (data)
    return (
      <>
        <Outlet />
        <AskBeforeLeaving />
        <SignInAgain email={data.person.email} returnTo={href} />
      </>
    );
  return (
    <main className="lost">
      <Away />
      {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Loading />}
    </main>
  );
}

function SignInAgain({ email, returnTo }: { email: string; returnTo: string }): ReactNode {
  const isOver = useStore(isSignedOut);
  return (
    <Dialog title="Sign in again" isOpen={isOver}>
      <div className="stack">
        <p className="muted">
          Your session has ended. What you typed is still there; send it once more afterwards.
        </p>
        <SignIn email={email} returnTo={returnTo} onDone={(signedIn) => void enter(signedIn)} />
      </div>
    </Dialog>
  );
}
