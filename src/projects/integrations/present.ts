import type { Static } from 'typebox';
import type { Integration as IntegrationShape, Revision as RevisionShape } from '../schema.ts';
import type { Integration, Revision } from './store.ts';

export function presentIntegration(integration: Integration): Static<typeof IntegrationShape> {
  const { id, projectId, name, provider, createdAt, updatedAt, latestRevision } = integration;
  return {
    id,
    projectId,
    name,
    provider,
    createTime: createdAt.toISOString(),
    updateTime: updatedAt.toISOString(),
    latestRevision: presentRevision(latestRevision),
  };
}

export function presentRevision(revision: Omit<Revision, 'retained'>): Static<typeof RevisionShape> {
  const { id, specVersion, content, createdAt } = revision;
  return { id, specVersion, createTime: createdAt.toISOString(), content };
}
