import { queryOptions } from '@tanstack/react-query';
import { answer, api } from './api.ts';

/** The project itself: its name, its looks, what it keeps. */
export const projectQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'projects', 'one'],
    queryFn: () =>
      answer(api.GET('/v1/projects/{projectIdOrName}', { params: { path: { projectIdOrName: project } } })),
  });
