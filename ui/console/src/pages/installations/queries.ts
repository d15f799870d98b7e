import { queryOptions } from '@tanstack/react-query';
import { onlyPage, type Installation, type IntegrationPage } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';

export const installationQuery = (project: string, installationId: string) =>
  queryOptions({
    queryKey: [project, 'installations', installationId],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/installations/{installationId}', {
          params: { path: { projectIdOrName: project, installationId } },
        }),
      ),
  });

/** The integrations of the project. It has few. */
export const integrationsQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'integrations', 'list', 'names'],
    queryFn: async () =>
      onlyPage<IntegrationPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/integrations', {
            params: { path: { projectIdOrName: project }, query: { pageSize: 200 } },
          }),
        ),
      ).results,
  });

export const health: Record<Installation['healthStatus'], [word: string, tone: Tone]> = {
  healthy: ['Healthy', 'good'],
  unhealthy: ['Unhealthy', 'bad'],
};

/** Why it does not work, in a sentence. */
export function troubleOf({ healthStatus, connection }: Installation): string | undefined {
  if (!connection) return 'Its connection is gone.';
  if (connection.status === 'bad_credentials')
    return connection.statusDetail ?? 'The credentials of its connection are not taken any more.';
  return healthStatus === 'unhealthy' ? 'At least half of its latest operations failed.' : undefined;
}
