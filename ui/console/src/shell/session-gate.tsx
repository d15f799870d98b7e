import { useQuery } from '@tanstack/react-query';
import type { SignedIn } from '@svc/client';
import { Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isSignedOut } from '../data/api.ts';
import { enter, sessionQuery } from '../data/session.ts';
import { SignIn } from '../forms/sign-in.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';
import { useStore } from '../ui/store.ts';
import { unsaved } from '../ui/unsaved.ts';
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
        <SignInAgain person={data.person} returnTo={href} />
      </>
    );
  return (
    <main className="lost">
      <Away />
      {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Loading />}
    </main>
  );
}

function SignInAgain({ person, returnTo }: { person: SignedIn['person']; returnTo: string }): ReactNode {
  const isOver = useStore(isSignedOut);
  const goOn = (signedIn: SignedIn): void => {
    if (signedIn.person.id === person.id) return void enter(signedIn);
    // What the other person saw and typed is theirs.
    unsaved.set(new Set());
    location.reload();
  };
  return (
    <Dialog title="Sign in again" isOpen={isOver}>
      <div className="stack">
        <p className="muted">
          Your session has ended. What you typed is still there; send it once more afterwards.
        </p>
        <SignIn email={person.email} returnTo={returnTo} onDone={goOn} />
      </div>
    </Dialog>
  );
}
