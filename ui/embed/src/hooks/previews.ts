import { useMemo } from 'react';
import { answerOf, type ConfigContent, type ReadPreview, type WritePlanned } from '@svc/client';
import { useSvc } from './provider.tsx';

interface Asked {
  objectName: string;
  config: ConfigContent;
  /** Default: the connection of the installation, else the group's newest that works. */
  connectionId?: string | undefined;
}

export interface Previews {
  /** One record of the account as the config would have it delivered. */
  previewRead: (asked: Asked) => Promise<ReadPreview>;
  /** What a write would send by the config; nothing is sent. */
  previewWrite: (
    asked: Asked & { type: 'create' | 'update'; record: Readonly<Record<string, unknown>> },
  ) => Promise<WritePlanned['plan']>;
}

/** Examples of what a config does that nobody saved. */
export function usePreviews(): Previews {
  const { svc, project, integration, groupRef } = useSvc();
  return useMemo(() => {
    const at = (objectName: string) => ({
      path: { projectIdOrName: project, integrationId: integration, objectName },
    });
    const body = ({ config: content, connectionId }: Asked) => ({
      groupRef,
      config: { content },
      ...(connectionId === undefined ? {} : { connectionId }),
    });
    const objects = '/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}';
    return {
      previewRead: (asked) =>
        answerOf(
          svc.api.POST(`${objects}/read-preview` as const, {
            params: at(asked.objectName),
            body: body(asked),
          }),
        ),
      previewWrite: async ({ type, record, ...asked }) => {
        const { plan } = await answerOf(
          svc.api.POST(`${objects}/write-preview` as const, {
            params: at(asked.objectName),
            body: { ...body(asked), type, record },
          }),
        );
        return plan;
      },
    };
  }, [svc, project, integration, groupRef]);
}
