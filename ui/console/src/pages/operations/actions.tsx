import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Operation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { ResolveOperation } from '../../forms/operation-resolve.tsx';
import { answer, api } from '../../data/api.ts';
import { curlOf, type Call } from '../../data/curl.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Problem } from '../../ui/problem.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Outcome } from './queries.ts';

/** Why an operation cannot be retried, as `retryOperation` of the API would refuse it. */
function notRetried(
  { status, retriedBy, actionType }: Operation,
  { unresolved, notDone }: Outcome,
  isOwned: boolean,
): string | undefined {
  if (actionType !== 'write') return 'The next run of the read reads it again';
  if (status === 'in_progress') return 'It is still in progress';
  if (!isOwned) return 'Its installation was deleted';
  if (retriedBy !== undefined) return 'It was retried already';
  if (unresolved > 0) return 'Resolve what is unknown first: it may have been written';
  return notDone === 0 ? 'Nothing failed' : undefined;
}

/** What can be done about one operation. */
export function OperationActions({
  project,
  operation,
  outcome,
  isOwned,
}: {
  project: string;
  operation: Operation;
  outcome: Outcome;
  /** Whether its installation is there. */
  isOwned: boolean;
}): ReactNode {
  const [isResolving, setResolving] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/operations/{operationId}:retry', {
          params: { path: { projectIdOrName: project, operationId: operation.id } },
          body: {},
        }),
      ),
    onSuccess: async ({ operationId }) => {
      toast('It is written again, in this operation');
      void client.invalidateQueries({ queryKey: [project, 'operations'] });
      await navigate({ to: '/projects/$project/operations/$operationId', params: { project, operationId } });
    },
  });
  const notAllowed = useNotAllowed(project, 'remediate');
  const cannotRetry = notRetried(operation, outcome, isOwned) ?? notAllowed;
  const isUnknown = outcome.unresolved > 0;
  return (
    <>
      {isUnknown && (
        <Button look="primary" disabledFor={notAllowed} onClick={() => setResolving(true)}>
          Resolve
        </Button>
      )}
      {operation.actionType === 'write' && (
        <Button
          look={isUnknown || cannotRetry ? 'plain' : 'primary'}
          isBusy={retry.isPending}
          disabledFor={cannotRetry}
          onClick={() => retry.mutate()}
        >
          Retry
        </Button>
      )}
      <CopyMenu project={project} operation={operation} />
      {isResolving && (
        <ResolveOperation project={project} operationId={operation.id} onClose={() => setResolving(false)} />
      )}
      {retry.error && <Problem error={retry.error} />}
    </>
  );
}

function CopyMenu({ project, operation }: { project: string; operation: Operation }): ReactNode {
  const path = `/v1/projects/${encodeURIComponent(project)}/operations/${operation.id}`;
  const copy = (text: string): void => {
    void navigator.clipboard.writeText(text);
    toast('Copied');
  };
  const copyCall = (call: Pick<Call, 'method' | 'path' | 'body'>): void =>
    copy(curlOf({ headers: { 'Content-Type': 'application/json' }, ...call, base: location.origin }, ownKey));
  const again = { method: 'POST', path: `${path}:retry`, body: '{}' };
  return (
    <Menu
      button="Copy"
      entries={[
        { label: 'As curl', onSelect: () => copyCall({ method: 'GET', path }) },
        // What was asked for is not told by the API; that it is written again needs no more than the id.
        ...(operation.actionType === 'write'
          ? [{ label: 'Retry as curl', onSelect: () => copyCall(again) }]
          : []),
        { label: 'Link to this page', onSelect: () => copy(location.href) },
        { label: 'Operation id', onSelect: () => copy(operation.id) },
      ]}
    />
  );
}

const ownKey = { name: 'X-Api-Key', prefix: '' };
