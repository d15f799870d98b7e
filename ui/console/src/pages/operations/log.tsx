import { useQuery } from '@tanstack/react-query';
import type { Operation, OperationLog } from '@svc/client';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { logQuery } from './queries.ts';

const severities: Record<OperationLog['severity'], [word: string, tone: Tone]> = {
  info: ['Note', 'info'],
  warning: ['Warning', 'warning'],
  error: ['Error', 'bad'],
};

/** What happened in an operation, line by line, the oldest first. */
export function Log({ project, operation }: { project: string; operation: Operation }): ReactNode {
  const { data, error, refetch } = useQuery(logQuery(project, operation));
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.length === 0)
    return <Empty title="Nothing was told yet">What happens in the operation appears here.</Empty>;
  return (
    <div className="table-frame">
      <table className="table table-narrow" aria-label="Log">
        <tbody>
          {data.map((line, at) => (
            // Lines are only added, and two may be alike.
            <Line key={at} line={line} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ line: { timestamp, severity, message } }: { line: OperationLog }): ReactNode {
  const [word, tone] = severities[severity];
  return (
    <tr>
      <td>
        <Time at={timestamp} />
      </td>
      <td>
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td>
        {message.msg}
        {message.error !== undefined && <span className="muted"> {message.error}</span>}
      </td>
    </tr>
  );
}
