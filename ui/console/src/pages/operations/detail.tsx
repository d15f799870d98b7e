import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Operation } from '@svc/client';
import type { ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { useProject } from '../../data/project.ts';
import { NotFound } from '../../shell/lost.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Facts, Loading, Page } from '../../ui/page.tsx';
import { isNotFound, Problem } from '../../ui/problem.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { useRunFault, WaitsForDestination } from '../reads/waiting.tsx';
import { OperationActions } from './actions.tsx';
import { Exchanges } from './exchanges.tsx';
import { Log } from './log.tsx';
import { nextAttemptOf, OwnerTrouble, ownerFacts, useOwner } from './owner.tsx';
import { operationQuery, stateOf, useOutcome, waits } from './queries.ts';
import { Records } from './records.tsx';

/** One piece of work: what became of each record, and what was sent and answered for it. */
export function OperationPage(): ReactNode {
  const project = useProject();
  const { operationId = '' } = useParams({ strict: false });
  const { data: operation, error, refetch } = useQuery(operationQuery(project, operationId));
  if (isNotFound(error)) return <NotFound what="operation" />;
  if (error && !operation) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!operation) return <Loading lines={8} />;
  return <OneOperation project={project} operation={operation} />;
}

function OneOperation({ project, operation }: { project: string; operation: Operation }): ReactNode {
  const { filters, setFilters } = useFilters();
  const outcome = useOutcome(project, operation);
  const owner = useOwner(project, operation);
  const fault = useRunFault(project, operation);
  const { word, tone } = fault ? waits : stateOf(operation, outcome);
  const { counts, metadata, errors } = operation;
  const isWrite = operation.actionType === 'write';
  return (
    <Page
      title={`${operation.actionType === 'read' ? 'Read' : 'Write'} ${operation.resource}`}
      beside={<Badge tone={tone}>{word}</Badge>}
      actions={<OperationActions {...{ project, operation, outcome }} isOwned={owner !== null} />}
      about={errors[0]?.message ?? operation.result}
    >
      <OwnerTrouble project={project} installation={owner} />
      {fault && <WaitsForDestination project={project} fault={fault} />}
      <Facts
        of={[
          ['Operation', <Id key="id" value={operation.id} />],
          ...ownerFacts(project, operation, owner),
          ['Accepted', <Time key="at" at={operation.createTime} look="full" />],
          ['Last change', <Time key="changed" at={operation.updateTime} look="full" />],
          ['Attempts', metadata.retry.attempts],
          ['Retry of', operation.retryOf && <OperationLink key="of" id={operation.retryOf} />],
          ['Retried by', operation.retriedBy && <OperationLink key="by" id={operation.retriedBy} />],
          ['Next attempt', nextAttemptOf(operation, owner)],
          ['Records', counts && `${counts.succeeded} of ${counts.total} ${isWrite ? 'done' : 'delivered'}`],
        ]}
      />
      <Tabs
        label="Parts of the operation"
        chosen={filters['tab'] ?? 'attempts'}
        onChoose={(tab) => setFilters({ tab: tab === 'attempts' ? '' : tab })}
        tabs={[
          {
            id: 'attempts',
            title: 'Attempts',
            content: <Exchanges project={project} operation={operation} />,
          },
          {
            id: 'records',
            title: 'Records',
            ...(isWrite && counts ? { count: counts.total } : {}),
            content: <Records project={project} operationId={operation.id} />,
          },
          { id: 'log', title: 'Log', content: <Log project={project} operation={operation} /> },
        ]}
      />
    </Page>
  );
}

function OperationLink({ id }: { id: string }): ReactNode {
  return (
    <Link to="/projects/$project/operations/$operationId" params={{ project: useProject(), operationId: id }}>
      <code>{id}</code>
    </Link>
  );
}
