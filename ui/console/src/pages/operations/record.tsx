import { useQuery } from '@tanstack/react-query';
import type { OperationRecord } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { Who } from '../people/who.tsx';

const outcomes: Record<OperationRecord['resolution'], [word: string, tone: Tone]> = {
  pending: ['Waiting', 'info'],
  applied: ['Done', 'good'],
  notApplied: ['Not done', 'bad'],
  unknown: ['Unknown', 'warning'],
};

/** A record in a word: by the reference of the caller, or by its place. */
export const nameOf = ({ index, reference }: OperationRecord): string =>
  `Record ${index}${reference ? ` (${reference})` : ''}`;

export function RecordOutcome({ record }: { record: OperationRecord }): ReactNode {
  const [word, tone] = outcomes[record.resolution];
  return <Badge tone={tone}>{word}</Badge>;
}

/** What its last attempt came to, and who resolved it since. */
export function RecordSaid({ record }: { record: OperationRecord }): ReactNode {
  const { resolvedBy, resolvedAt, errors } = record;
  const [failure] = errors;
  return (
    <>
      {resolvedBy && resolvedAt && (
        <span>
          Resolved by <Who by={resolvedBy} />, <Time at={resolvedAt} />.{' '}
        </span>
      )}
      {failure?.message}
      {failure?.provider?.message && <span className="muted"> {failure.provider.message}</span>}
    </>
  );
}

/** What was asked to be written. */
export function RecordContent(props: { project: string; operationId: string; index: number }): ReactNode {
  const { project, operationId, index } = props;
  const { data, error, refetch } = useQuery({
    queryKey: [project, 'operations', operationId, 'records', index],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/operations/{operationId}/records/{index}', {
          params: { path: { projectIdOrName: project, operationId, index } },
        }),
      ),
  });
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <Code text={JSON.stringify(data.content)} label="What was asked to be written" />;
}

/** One record: what was asked for, and what became of it. */
export function RecordDetail(props: {
  project: string;
  operationId: string;
  record: OperationRecord;
  onClose: () => void;
}): ReactNode {
  const { project, operationId, record, onClose } = props;
  const { index, reference, recordId, errors, resolvedBy } = record;
  return (
    <Dialog title={`Record ${index}`} isOpen isWide onClose={onClose}>
      <Facts
        of={[
          ['Outcome', <RecordOutcome key="outcome" record={record} />],
          ['Reference', reference],
          ['Id at the provider', recordId && <Id key="id" value={recordId} />],
          ['What was said', (errors.length > 0 || resolvedBy) && <RecordSaid key="said" record={record} />],
        ]}
      />
      <h3>What was asked to be written</h3>
      <RecordContent project={project} operationId={operationId} index={index} />
    </Dialog>
  );
}
