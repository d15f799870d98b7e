import { installationId } from './api-story.ts';

/** Examples of what a deploy tells. */
export const deployExamples = {
  DeployPreview: {
    dryRun: true,
    integrations: [
      {
        name: 'hubspot-crm',
        provider: 'hubspot',
        change: 'updated',
        added: ['write.companies'],
        changed: ['read.contacts'],
        removed: [],
        installations: 41,
        impacts: [
          {
            kind: 'losesField',
            object: 'contacts',
            field: 'phone',
            count: 1,
            installations: [{ id: installationId, groupRef: 'acme' }],
          },
        ],
      },
    ],
    untouched: ['salesforce-crm'],
    warnings: [],
  },
};
