import { queryOptions } from '@tanstack/react-query';
import { onlyPage, type Installation, type InstallationPage, type IntegrationPage } from '@svc/client';
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

const mostCounted = 200;

/** Whose an integration is: how many have it installed, and some of them. */
export const installedQuery = (project: string, integrationId: string) =>
  queryOptions({
    queryKey: [project, 'installations', 'of', integrationId],
    queryFn: async () => {
      const { results, pagination } = onlyPage<InstallationPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations', {
            params: {
              path: { projectIdOrName: project, integrationId },
              query: { pageSize: mostCounted },
            },
          }),
        ),
      );
      return {
        count: `${results.length}${pagination.done ? '' : ' or more'}`,
        groups: results.slice(0, 5).map(({ group }) => group.groupName),
      };
    },
    staleTime: 0,
  });
