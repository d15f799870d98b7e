import { queryOptions } from '@tanstack/react-query';
import type { ProviderInfo } from '@svc/client';
import { answer, api } from '../../data/api.ts';

/** The catalogue is that of the release: it is read once. */
export const catalogueQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async () =>
    Object.values(await answer(api.GET('/v1/providers'))).toSorted((a, b) =>
      a.displayName.localeCompare(b.displayName),
    ),
  staleTime: Infinity,
});

export const authTypes: Record<ProviderInfo['authType'], string> = {
  oauth2: 'OAuth',
  apiKey: 'API key',
  basic: 'Password',
  jwt: 'JWT',
  custom: 'Own fields',
  none: 'None',
};

/** What svc can do at a provider, in words. */
export function supportOf({ support }: ProviderInfo): string[] {
  const { read, write, subscribe, proxy, delete: deletes, batchWrite, search } = support;
  const isBatched = Object.values(batchWrite).some(({ supported }) => supported);
  const can: [boolean, string][] = [
    [read, 'read'],
    [write, 'write'],
    [batchWrite.upsert.supported, 'upsert'],
    [deletes, 'delete'],
    [isBatched, 'batches'],
    [search.operators.equals, 'search'],
    [subscribe, 'subscribe'],
    [proxy, 'proxy'],
  ];
  return can.filter(([does]) => does).map(([, word]) => word);
}

/** Where a provider sends people back to, for every OAuth client. */
export const redirectUri = (): string => `${location.origin}/callbacks/v1/oauth`;
