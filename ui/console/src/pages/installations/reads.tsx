import { useQuery } from '@tanstack/react-query';
import type { Installation, ReadState } from '@svc/client';
import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Facts, Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { readsQuery, stateOf } from '../reads/queries.ts';
import { useFault, WaitsForDestination } from '../reads/waiting.tsx';
import { Backfill, Run } from './run.tsx';
import { Runs } from './runs.tsx';
import { ReadActions } from './read-actions.tsx';

/** How each object of an installation is read: how far it is, the last run, and when the next one is. */
export function Reads({ project, installation }: { project: string; installation: Installation }): ReactNode {
  const { data, error, refetch } = useQuery(readsQuery(project, installation));
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={6} />;
  if (data.length === 0)
    return (
      <Empty title="Nothing is read">
        The config names no object to read, or the integration declares none.
      </Empty>
    );
  return (
    <div className="stack">
      {data.map((feed) => (
        <Feed key={feed.objectName} {...{ project, installation, feed }} />
      ))}
    </div>
  );
}

function Feed(props: { project: string; installation: Installation; feed: ReadState }): ReactNode {
  const { project, installation, feed } = props;
  const { objectName, mappedObjectName, schedule, destination, watermark, nextRunTime, failures } = feed;
  const fault = useFault(project, feed);
  const isHeld = fault !== undefined;
  const [word, tone] = stateOf(feed, isHeld);
  return (
    <section className="card" aria-label={objectName}>
      <header className="section-head">
        <div className="row">
          <h2>{mappedObjectName ?? objectName}</h2>
          <Badge tone={tone}>{word}</Badge>
          {mappedObjectName && <span className="muted">{objectName}</span>}
        </div>
        <ReadActions {...props} />
      </header>
      {fault && <WaitsForDestination project={project} fault={fault} />}
      {feed.paused?.note && <p className="muted">{feed.paused.note}</p>}
      <Facts
        of={[
          ['Schedule', schedule ? <code key="schedule">{schedule}</code> : 'On demand'],
          ['To', destination],
          ['Read until', <Time key="until" at={watermark} />],
          ['Next run', nextRunTime && <Time key="next" at={nextRunTime} look="ago" />],
          ['Failures in a row', failures || undefined],
          ['Paused', feed.paused && <Time key="paused" at={feed.paused.since} />],
        ]}
      />
      {feed.backfill?.status === 'in_progress' && (
        <Backfill {...{ project, installation, objectName, isHeld, run: feed.backfill }} />
      )}
      {feed.backfill && feed.backfill.status !== 'in_progress' && (
        <Run project={project} title="History" run={feed.backfill} />
      )}
      {feed.lastRun ? (
        <Run project={project} title="Last run" isHeld={isHeld} run={feed.lastRun} />
      ) : (
        <p className="muted">{schedule ? 'The schedule did not run yet.' : 'It is read on demand only.'}</p>
      )}
      <Runs project={project} installationId={installation.id} objectName={objectName} />
    </section>
  );
}
