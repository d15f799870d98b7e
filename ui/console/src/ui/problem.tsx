import { SvcError } from '@svc/client';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { isSignedOut } from '../data/api.ts';
import { Button } from './button.tsx';
import { useStore } from './store.ts';

/**
 * What went wrong, and what to do about it. Issues that stand at a field of the form are left to it. That the session has ended is said
 * until somebody is signed in again.
 */
export function Problem(props: {
  error: Error;
  onRetry?: () => void;
  /** Paths of the issues that are shown elsewhere. */
  shownAtFields?: readonly string[];
}): ReactNode {
  const { error, onRetry, shownAtFields = [] } = props;
  const told = error instanceof SvcError ? error : undefined;
  const isOver = useStore(isSignedOut);
  if (told?.code === 'unauthenticated') return isOver ? <SessionEnded /> : null;
  const issues = told?.issues.filter(({ name }) => !shownAtFields.includes(name)) ?? [];
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <p className="problem-detail">{told?.detail ?? 'Something in this page went wrong.'}</p>
        <p className="muted">{told ? told.remedy : error.message}</p>
        {issues.length > 0 && (
          <ul className="problem-issues">
            {issues.map(({ name, detail }) => (
              <li key={`${name} ${detail}`}>
                <code>{name}</code> {detail}
              </li>
            ))}
          </ul>
        )}
        {told?.provider?.message && <p className="muted">The provider said: {told.provider.message}</p>}
        {told?.requestId && (
          <p className="muted small">
            {told.code}, request <code>{told.requestId}</code>
          </p>
        )}
        {onRetry && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}

/** What svc says of it names headers, which people do not send. */
function SessionEnded(): ReactNode {
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <p className="problem-detail">Your session has ended.</p>
        <p className="muted">Sign in again.</p>
      </div>
    </div>
  );
}

/** Of what is not there, or of another project: the answer is the same. */
export const isNotFound = (error: Error | null): boolean => error instanceof SvcError && error.status === 404;
