import type { Static } from 'typebox';
import type { Integration as IntegrationShape } from '../schema.ts';
import type { Integration } from './store.ts';

export function presentIntegration(integration: Integration): Static<typeof IntegrationShape> {
  const { createdAt, updatedAt, latestRevision, ...rest } = integration;
  const { id, specVersion, content } = latestRevision;
  return {
    ...rest,
    createTime: createdAt.toISOString(),
    updateTime: updatedAt.toISOString(),
    latestRevision: { id, specVersion, createTime: latestRevision.createdAt.toISOString(), content },
  };
}
