import { queryOptions } from '@tanstack/react-query';
import type { Delivery, DeliveryStatus, Replay } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';
import { eventWords } from '../events/words.ts';

export const deliveryQuery = (project: string, deliveryId: string) =>
  queryOptions({
    queryKey: [project, 'deliveries', deliveryId],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/deliveries/{deliveryId}', {
          params: { path: { projectIdOrName: project, deliveryId }, query: { includeBody: true } },
        }),
      ),
  });

export const deliveryStates: Record<DeliveryStatus, [word: string, tone: Tone]> = {
  pending: ['Waiting', 'info'],
  delivered: ['Delivered', 'good'],
  failed: ['Failed for good', 'bad'],
  canceled: ['Canceled', 'neutral'],
};

/** The state of a delivery in a word; one that failed before waits for another try. */
export const stateOf = ({ status, attemptCount }: Delivery): [word: string, tone: Tone] =>
  status === 'pending' && attemptCount > 0 ? ['To be tried again', 'warning'] : deliveryStates[status];

/** What it carries. */
export function carriedBy({ notificationType, objectName, numRecords }: Delivery): string {
  if (notificationType) return eventWords[notificationType][0];
  if (objectName === undefined) return 'A message to try the destination';
  return `${numRecords} ${objectName}`;
}

export const replayStates: Record<Replay['status'], [word: string, tone: Tone]> = {
  running: ['Running', 'info'],
  done: ['Done', 'good'],
  canceled: ['Canceled', 'neutral'],
};

export const replayQuery = (project: string, replayId: string) =>
  queryOptions({
    queryKey: [project, 'replays', replayId],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/replays/{replayId}', {
          params: { path: { projectIdOrName: project, replayId } },
        }),
      ),
    // The stream tells that it changed, not each message that it sends.
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? 2000 : false),
  });
