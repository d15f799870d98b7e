import { queryOptions } from '@tanstack/react-query';
import type { Operation, OperationRecord } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import { useList, type List } from '../../data/list.ts';
import type { Tone } from '../../ui/badge.tsx';

/** The parameters of every path of one operation. */
const pathOf = (project: string, operationId: string) => ({
  path: { projectIdOrName: project, operationId },
});

export const operationQuery = (project: string, operationId: string) =>
  queryOptions({
    queryKey: [project, 'operations', operationId],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/operations/{operationId}', {
          params: pathOf(project, operationId),
        }),
      ),
  });

/** Of one that goes on, what it waits for is told without a change of it. */
export const logQuery = (project: string, { id, status }: Operation) =>
  queryOptions({
    queryKey: [project, 'operations', id, 'logs'],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/operations/{operationId}/logs', {
          params: pathOf(project, id),
        }),
      ),
    refetchInterval: status === 'in_progress' ? 5000 : false,
  });

/** What became of each record of an operation. */
export const useRecords = (project: string, operationId: string, enabled = true): List<OperationRecord> =>
  useList(
    [project, 'operations', operationId, 'records'],
    (query) =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/operations/{operationId}/records', {
          params: { ...pathOf(project, operationId), query },
        }),
      ),
    { enabled },
  );

/** How many records nobody knows about, and how many were not done: the counts of an operation stay when records are resolved. */
export interface Outcome {
  unresolved: number;
  notDone: number;
}

export function useOutcome(project: string, { id, actionType, counts }: Operation): Outcome {
  // Of a read they are deliveries, each with its own page.
  const { unknown = 0, failed = 0 } = (actionType === 'write' && counts) || {};
  const { items } = useRecords(project, id, unknown > 0);
  if (unknown === 0 || items.length === 0) return { unresolved: unknown, notDone: failed };
  const having = (one: OperationRecord['resolution']): number =>
    items.filter(({ resolution }) => resolution === one).length;
  return { unresolved: having('unknown'), notDone: having('notApplied') };
}

/** Of a run that goes on once its destination takes something. */
export const waits: { word: string; tone: Tone } = { word: 'Waits', tone: 'warning' };

/** The state of an operation in a word, and its colour. */
export function stateOf(operation: Operation, outcome?: Outcome): { word: string; tone: Tone } {
  const { status, counts, errors, unresolved } = operation;
  const isUnknown = (counts?.unknown ?? 0) > 0;
  if (isUnknown && unresolved !== true && status !== 'in_progress')
    return { word: 'Resolved', tone: outcome && outcome.notDone > 0 ? 'neutral' : 'good' };
  if (isUnknown) return { word: 'Unknown outcome', tone: 'warning' };
  if (status === 'failure') return { word: 'Failed', tone: 'bad' };
  if (status === 'in_progress')
    return errors.length > 0
      ? { word: 'Not done yet', tone: 'warning' }
      : { word: 'In progress', tone: 'info' };
  return (counts?.failed ?? 0) > 0
    ? { word: 'Partly done', tone: 'warning' }
    : { word: 'Done', tone: 'good' };
}

export const categories = {
  validation: 'Validation',
  permission: 'Permission',
  auth: 'Credentials',
  notFound: 'Not found',
  conflict: 'Conflict',
  rateLimit: 'Rate limit',
  providerDown: 'Provider down',
  unknownOutcome: 'Unknown outcome',
  // What somebody canceled, or what was too late to be sent, has no category of its own.
  internal: 'Canceled, too late, or fault of svc',
} as const;
