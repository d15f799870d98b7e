import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Installation, ReadRunSummary } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Time } from '../../ui/time.tsx';
import { waits } from '../operations/queries.ts';

/** One run of a read: what it found, and what of it was handed over and arrived. */
export function Run(props: {
  project: string;
  title: string;
  run: ReadRunSummary;
  /** It waits for its destination while it goes on. */
  isHeld?: boolean;
}): ReactNode {
  const { project, title, run, isHeld = false } = props;
  const { operationId, status, recordsProcessed, emitted, delivered, createTime } = run;
  return (
    <p className="row">
      <Link to="/projects/$project/operations/$operationId" params={{ project, operationId }}>
        {title}
      </Link>
      {status === 'failure' && <Badge tone="bad">Failed</Badge>}
      {status === 'in_progress' && (
        <Badge tone={isHeld ? waits.tone : 'info'}>{isHeld ? waits.word : 'Running'}</Badge>
      )}
      {status === 'success' && <Badge tone="good">Done</Badge>}
      <span>
        {recordsProcessed.toLocaleString()} found · {emitted.toLocaleString()} sent ·{' '}
        {delivered.toLocaleString()} delivered
      </span>
      <span className="muted">
        <Time at={createTime} />
      </span>
    </p>
  );
}

/** How far the history of an object is read. */
export function Backfill(props: {
  project: string;
  installation: Installation;
  objectName: string;
  run: ReadRunSummary;
  isHeld: boolean;
}): ReactNode {
  const { project, installation, objectName, run, isHeld } = props;
  const { id: installationId, integrationId } = installation;
  const { data } = useQuery({
    queryKey: [project, 'installations', installationId, 'backfill', objectName],
    queryFn: () =>
      answer(
        api.GET(
          '/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/objects/{objectName}/backfill-progress',
          { params: { path: { projectIdOrName: project, integrationId, installationId, objectName } } },
        ),
      ),
    refetchInterval: 5000,
  });
  return (
    <>
      <Run project={project} title="History" run={run} isHeld={isHeld} />
      <Progress
        label={`Records of the history of ${objectName} that are read`}
        done={data?.recordsProcessed ?? run.recordsProcessed}
        of={data?.recordsEstimatedTotal}
      />
      {!isHeld && data?.expectedEndTime && (
        <p className="muted">
          Done <Time at={data.expectedEndTime} look="ago" />, as it goes now.
        </p>
      )}
    </>
  );
}
