import { queryOptions, useQuery } from '@tanstack/react-query';
import { onlyPage, type Destination, type DestinationPage, type DestinationType } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';

export const destinationQuery = (project: string, destination: string) =>
  queryOptions({
    queryKey: [project, 'destinations', destination],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/destinations/{destination}', {
          params: { path: { projectIdOrName: project, destination } },
        }),
      ),
  });

/** The newest destinations, to choose from and to name. A project has few. */
export const destinationsQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'destinations', 'list', 'names'],
    queryFn: async () =>
      onlyPage<DestinationPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/destinations', {
            params: { path: { projectIdOrName: project }, query: { pageSize: 200 } },
          }),
        ),
      ).results,
  });

/** The destinations of the project by id, by name; nothing for who may not list them. */
export function useDestinationNames(project: string): Readonly<Record<string, string>> {
  const { data = [] } = useQuery(destinationsQuery(project));
  return Object.fromEntries(data.map(({ id, name }) => [id, name]));
}

/** Whether what is to be delivered there arrives. */
export function stateOf({ status, failingSince }: Destination): [word: string, tone: Tone] {
  if (status === 'disabled') return ['Disabled', 'bad'];
  return failingSince === undefined ? ['Active', 'good'] : ['Failing', 'warning'];
}

export const kindNames: Record<DestinationType, string> = {
  webhook: 'Webhook',
  postgres: 'PostgreSQL',
  s3: 'S3 bucket',
  amqp: 'AMQP broker',
  slack: 'Slack channel',
  file: 'File',
};
