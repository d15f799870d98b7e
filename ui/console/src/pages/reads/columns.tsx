import { Link } from '@tanstack/react-router';
import type { ProjectReadState, ReadRunSummary } from '@svc/client';
import type { ReactNode } from 'react';
import { useProject } from '../../data/project.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { IntegrationName } from '../installations/columns.tsx';
import { failuresOf, stateOf } from './queries.ts';
import { useFault } from './waiting.tsx';

export const readColumns: readonly Column<ProjectReadState>[] = [
  {
    title: 'Status',
    width: '12rem',
    cell: (read) => <Status read={read} />,
  },
  { title: 'What', width: '15.5rem', cell: (read) => <What read={read} /> },
  { title: 'Schedule', width: '13.5rem', cell: (read) => <Schedule read={read} /> },
  { title: 'Read until', width: '7rem', cell: ({ watermark }) => <Time at={watermark} look="ago" /> },
  { title: 'Last run', width: '16.5rem', cell: ({ lastRun }) => <LastRun run={lastRun} /> },
  { title: 'Failures', width: '6rem', align: 'end', cell: (read) => failuresOf(read) || '' },
];

function Status({ read }: { read: ProjectReadState }): ReactNode {
  const fault = useFault(useProject(), read);
  const [word, tone] = stateOf(read, fault !== undefined);
  return <Badge tone={tone}>{word}</Badge>;
}

/** What and whose; the installation has all that can be done to it. */
function What({ read }: { read: ProjectReadState }): ReactNode {
  const project = useProject();
  const { installationId, integrationId, groupRef, objectName, mappedObjectName } = read;
  return (
    <Link
      to="/projects/$project/installations/$installationId"
      params={{ project, installationId }}
      search={{ tab: 'reads' }}
      className="row-link"
    >
      <span className="strong">{mappedObjectName ?? objectName}</span> {groupRef}{' '}
      <span className="muted">
        <IntegrationName id={integrationId} />
      </span>
    </Link>
  );
}

/** When it is read, and when next. */
function Schedule({ read: { schedule, nextRunTime } }: { read: ProjectReadState }): ReactNode {
  if (!schedule) return <span className="muted">On demand</span>;
  return (
    <>
      <code>{schedule}</code>{' '}
      <span className="muted">{nextRunTime && <Time at={nextRunTime} look="ago" />}</span>
    </>
  );
}

/** When it began, and what came of it; the status says whether it failed. */
function LastRun({ run }: { run: ReadRunSummary | undefined }): ReactNode {
  if (!run) return <span className="muted">None yet</span>;
  const { emitted, delivered, createTime } = run;
  return (
    <>
      <Time at={createTime} look="ago" />{' '}
      <span className="muted">
        {delivered.toLocaleString()} of {emitted.toLocaleString()} delivered
      </span>
    </>
  );
}
