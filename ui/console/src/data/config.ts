import type { Config, ConfigContent, Installation } from '@svc/client';
import { answer, api } from './api.ts';

/** Puts a whole config in force, unless somebody changed the one that it was made on: `config-changed` then. */
export const saveConfig = (
  project: string,
  { id: installationId, integrationId }: Installation,
  base: Config,
  content: ConfigContent,
): Promise<Installation> =>
  answer(
    api.PATCH('/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}', {
      params: {
        path: { projectIdOrName: project, integrationId, installationId },
        query: { ifConfigId: base.id },
      },
      body: { updateMask: ['config.content'], installation: { config: { content } } },
    }),
  );
