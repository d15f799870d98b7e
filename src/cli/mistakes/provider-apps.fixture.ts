import type { Mistakes } from './mistake.fixture.ts';

const asked = { input: 'from the provider' };

const notThat = [
  [1, 'hubspot --default'],
  [1, '$OPERATION --default'],
  [1, '$CONNECTION --default'],
  [2, "'$APP ' --default"],
  [2, '\'"$APP"\' --default'],
  [2, '.. --default'],
  [2, 'hubspot $APP --default'],
] as const;

export const ofProviderApps: Mistakes = {
  'provider-apps list': [
    [2, '--limit abc'],
    [2, '--limit -1'],
    [2, '--provider hubspot'],
    [2, 'hubspot'],
  ],
  'provider-apps create': [
    [2, 'hubspot', asked],
    [2, 'hubspot 8d4f2c1e', asked],
    [2, 'hubspot --client-id', asked],
    [2, 'hubspot --client-id ""', asked],
    [2, 'hubspot --client-id 8d4f2c1e --scope oauth'],
    [2, 'hubspot --client-id 8d4f2c1e --scope oauth', { input: '\n' }],
    [2, 'hubspot --client-id 8d4f2c1e --client-secret secret'],
    [1, 'hubspot --client-id 8d4f2c1e', asked],
    [1, 'hubspt --client-id 8d4f2c1e --scope oauth', asked],
    [1, 'hubspot-crm --client-id 8d4f2c1e --scope oauth', asked],
    [1, 'iterable --client-id 8d4f2c1e --scope oauth', asked],
    [2, 'hubspot --client-id 8d4f2c1e --scope oauth --metadata x', asked],
    [2, 'hubspot --client-id 8d4f2c1e --scope oauth --metadata @nowhere.json', asked],
    [1, `hubspot --client-id 8d4f2c1e --scope oauth --metadata '{"portal":1}'`, asked],
  ],
  'provider-apps update': [
    ...notThat,
    [2, '$APP'],
    [2, '$APP --new-secret'],
    [2, '$APP --new-secret secret', asked],
    [2, '$APP --client-secret secret'],
    [1, `$APP --metadata '{"portal":1}'`],
    [2, '$APP --provider salesforce'],
  ],
  'provider-apps delete': [
    ...notThat.map(([code, words]) => [code, words.replace('--default', '--yes')] as const),
    [2, '$APP'],
    [2, '$APP', { input: 'y\n' }],
    [2, '$APP --force'],
  ],
};
