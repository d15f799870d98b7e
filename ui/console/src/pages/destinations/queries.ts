import { queryOptions, useQuery } from '@tanstack/react-query';
import { onlyPage, type Destination, type DestinationPage, type DestinationType } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';

/** That it takes what is sent, or does no more, is told as a change of deliveries, not of it. */
export const lookEveryMs = 5000;

export const destinationQuery = (project: string, destination: string) =>
  queryOptions({
    queryKey: [project, 'destinations', destination],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/destinations/{destination}', {
          params: { path: { projectIdOrName: project, destination } },
        }),
      ),
    refetchInterval: lookEveryMs,
  });

export const mostNamed = 200;

/** The newest destinations, to choose from and to name. A project has few. */
export const destinationsQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'destinations', 'list', 'names'],
    queryFn: async () =>
      onlyPage<DestinationPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/destinations', {
            params: { path: { projectIdOrName: project }, query: { pageSize: mostNamed } },
          }),
        ),
      ).results,
  });

/** The destinations of the project by id, by name; nothing for who may not list them. */
export function useDestinationNames(project: string): Readonly<Record<string, string>> {
  const { data = [] } = useQuery(destinationsQuery(project));
  return Object.fromEntries(data.map(({ id, name }) => [id, name]));
}

export const destinationStates = { active: 'Active', failing: 'Failing', disabled: 'Disabled' } as const;
export type DestinationState = keyof typeof destinationStates;

const tones: Record<DestinationState, Tone> = { active: 'good', failing: 'warning', disabled: 'bad' };

/** It takes nothing now, and is not disabled for it. */
export const isFailing = ({ status, failingSince }: Destination): boolean =>
  status === 'active' && failingSince !== undefined;

/** Whether what is to be delivered there arrives. */
export function stateOf(destination: Destination): [word: string, tone: Tone] {
  const state = isFailing(destination) ? 'failing' : destination.status;
  return [destinationStates[state], tones[state]];
}

export const kindNames: Record<DestinationType, string> = {
  webhook: 'Webhook',
  postgres: 'PostgreSQL',
  s3: 'S3 bucket',
  amqp: 'AMQP broker',
  slack: 'Slack channel',
  file: 'File',
};
