import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../../data/api.ts';

/** All topics and routes of a project. */
export const notificationsQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'notifications'],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/notifications', {
          params: { path: { projectIdOrName: project } },
        }),
      ),
  });
