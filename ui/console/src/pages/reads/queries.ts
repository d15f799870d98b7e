import { queryOptions } from '@tanstack/react-query';
import type { Installation, ReadState, ReadStatus } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';
import { waits } from '../operations/queries.ts';

/** How each object of an installation is read. */
export const readsQuery = (
  project: string,
  { id: installationId, integrationId }: Pick<Installation, 'id' | 'integrationId'>,
) =>
  queryOptions({
    queryKey: [project, 'installations', installationId, 'reads'],
    queryFn: () =>
      answer(
        api.GET(
          '/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/reads',
          { params: { path: { projectIdOrName: project, integrationId, installationId } } },
        ),
      ),
    // Runs are operations: their progress is no change of the installation.
    refetchInterval: 5000,
  });

/** What the API calls the status of a read, and what people do; what needs somebody first. */
export const readStates: Readonly<Record<ReadStatus, [word: string, tone: Tone]>> = {
  failing: ['Failing', 'warning'],
  paused: ['Paused', 'neutral'],
  running: ['Running', 'info'],
  idle: ['Works', 'good'],
  disabled: ['Switched off', 'neutral'],
  removed: ['Taken away', 'neutral'],
};

/** The same, and whether it waits, or paused after failures; in part: what compares its associations did. */
export function stateOf({ status, paused }: ReadState, isHeld = false): [word: string, tone: Tone] {
  if (status === 'running' && isHeld) return [waits.word, waits.tone];
  if (status !== 'paused') return readStates[status];
  if (!paused) return ['Paused in part', 'bad'];
  return paused.reason === 'failures' ? ['Paused by itself', 'bad'] : readStates.paused;
}

/** Scheduled runs that failed one after the other; of what compares associations, if those are more. */
export const failuresOf = ({ failures, associations }: ReadState): number =>
  Math.max(failures, associations?.failures ?? 0);
