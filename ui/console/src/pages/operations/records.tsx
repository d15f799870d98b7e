import type { OperationRecord } from '@svc/client';
import { useMemo, useState, type ReactNode } from 'react';
import { Id } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useRecords } from './queries.ts';
import { nameOf, RecordDetail, RecordOutcome, RecordSaid } from './record.tsx';

const columnsOf = (show: (record: OperationRecord) => void): readonly Column<OperationRecord>[] => [
  {
    title: 'Record',
    width: '26%',
    cell: (record) => (
      <button type="button" className="row-link row-button" onClick={() => show(record)}>
        {nameOf(record)}
      </button>
    ),
  },
  { title: 'Outcome', width: '8rem', cell: (record) => <RecordOutcome record={record} /> },
  {
    title: 'Id at the provider',
    width: '22%',
    cell: ({ recordId }) => recordId && <Id value={recordId} />,
  },
  { title: 'What was said', width: '100%', cell: (record) => <RecordSaid record={record} /> },
];

/** What became of each record of an operation. */
export function Records({ project, operationId }: { project: string; operationId: string }): ReactNode {
  const list = useRecords(project, operationId);
  const [shown, setShown] = useState<OperationRecord>();
  const columns = useMemo(() => columnsOf(setShown), []);
  return (
    <>
      <Table
        label="Records"
        list={list}
        columns={columns}
        rowKey={({ index }) => String(index)}
        empty={<Empty title="No records">A read tells how many it found, not which.</Empty>}
      />
      {shown && (
        <RecordDetail {...{ project, operationId }} record={shown} onClose={() => setShown(undefined)} />
      )}
    </>
  );
}
