import type { OperationRecord } from '@svc/client';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useRecords } from './queries.ts';

const outcomes: Record<OperationRecord['resolution'], [word: string, tone: Tone]> = {
  pending: ['Waiting', 'info'],
  applied: ['Done', 'good'],
  notApplied: ['Not done', 'bad'],
  unknown: ['Unknown', 'warning'],
};

const columns: readonly Column<OperationRecord>[] = [
  { title: '#', width: '4rem', align: 'end', cell: ({ index }) => index },
  {
    title: 'Outcome',
    width: '8rem',
    cell: ({ resolution }) => {
      const [word, tone] = outcomes[resolution];
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'Reference', width: '22%', cell: ({ reference }) => reference },
  {
    title: 'Id at the provider',
    width: '22%',
    cell: ({ recordId }) => recordId && <Id value={recordId} />,
  },
  {
    title: 'What was said',
    width: '100%',
    cell: ({ errors: [failure] }) =>
      failure && (
        <>
          {failure.message}
          {failure.provider?.message && <span className="muted"> {failure.provider.message}</span>}
        </>
      ),
  },
];

/** What became of each record of an operation. */
export function Records({ project, operationId }: { project: string; operationId: string }): ReactNode {
  const list = useRecords(project, operationId);
  return (
    <Table
      label="Records"
      list={list}
      columns={columns}
      rowKey={({ index }) => String(index)}
      empty={<Empty title="No records">A read tells how many it found, not which.</Empty>}
    />
  );
}
