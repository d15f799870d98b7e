import { describe, expect, it } from 'vitest';
import type { Principal } from '../projects/index.ts';
import { presentFor } from './present.ts';
import type { DestinationRow } from './store/destinations.ts';

describe('src/deliveries/present', () => {
  const rowOf = (type: string, metadata: Record<string, unknown>): DestinationRow => ({
    ...({} as DestinationRow),
    type,
    metadata,
    reason: null,
    failing_since: null,
    created_at: new Date(0),
    updated_at: new Date(0),
  });
  const shown = (scope: Principal['scopes'][number], row: DestinationRow): object =>
    presentFor({ ...({} as Principal), scopes: [scope] }, row).metadata;

  it.each([
    [
      'webhook',
      { url: 'https://a.example/hook', headers: { authorization: 'Bearer s3cret' } },
      { url: 'https://a.example/hook', headers: { authorization: '…' } },
    ],
    ['webhook', { url: 'https://a.example/hook' }, { url: 'https://a.example/hook' }],
    [
      'webhook',
      { url: 'https://ada:pw@a.example/hook?code=s3cret&sig=a=b&empty=&s3cret#x' },
      { url: 'https://…@a.example/hook?code=…&sig=…&empty=&…' },
    ],
    ['slack', { url: 'https://hooks.slack.com/services/T0/B0/s3cret' }, { url: 'https://hooks.slack.com/…' }],
  ])(
    'shows what is secret in the metadata of a %s to who may see secrets alone',
    (type, metadata, hidden) => {
      const row = rowOf(type, metadata);
      for (const scope of ['full', 'develop'] as const) expect(shown(scope, row)).toEqual(metadata);
      for (const scope of ['view', 'read', 'remediate'] as const) expect(shown(scope, row)).toEqual(hidden);
    },
  );
});
