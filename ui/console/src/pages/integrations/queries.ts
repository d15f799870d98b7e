import { queryOptions } from '@tanstack/react-query';
import type { DeployPreview, Integration } from '@svc/client';
import { answer, api } from '../../data/api.ts';

export const integrationQuery = (project: string, integrationIdOrName: string) =>
  queryOptions({
    queryKey: [project, 'integrations', integrationIdOrName],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}', {
          params: { path: { projectIdOrName: project, integrationIdOrName } },
        }),
      ),
  });

/** All of them, for a manifest that holds the project as it is. */
export const integrationsQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'integrations', 'all'],
    queryFn: async () =>
      (await answer(
        api.GET('/v1/projects/{projectIdOrName}/integrations', {
          params: { path: { projectIdOrName: project } },
        }),
      )) as Integration[],
  });

const put = (
  project: string,
  sourceYaml: string,
  query: { dryRun?: boolean; destructive?: boolean },
  signal?: AbortSignal,
) =>
  answer(
    api.PUT('/v1/projects/{projectIdOrName}/integrations:batch', {
      params: { path: { projectIdOrName: project }, query },
      body: { sourceYaml },
      ...(signal ? { signal } : {}),
    }),
  );

/** What a deploy of the text would change; a refusal has the faults of the text. */
export const planQuery = (project: string, text: string, destructive: boolean) =>
  queryOptions({
    queryKey: [project, 'integrations', 'plan', text, destructive],
    queryFn: async ({ signal }) =>
      (await put(project, text, { dryRun: true, destructive }, signal)) as DeployPreview,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });

export const deploy = (project: string, text: string, destructive: boolean) =>
  put(project, text, { destructive });
