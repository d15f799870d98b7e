import { queryOptions } from '@tanstack/react-query';
import type { Connection } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';

export const connectionQuery = (project: string, connectionId: string) =>
  queryOptions({
    queryKey: [project, 'connections', connectionId],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/connections/{connectionId}', {
          params: { path: { projectIdOrName: project, connectionId } },
        }),
      ),
  });

export const connectionStates: Record<Connection['status'], [word: string, tone: Tone]> = {
  created: ['Not used yet', 'info'],
  working: ['Working', 'good'],
  bad_credentials: ['Bad credentials', 'bad'],
};

/** How the customer gave access, in words. */
export const schemes: Record<Connection['authScheme'], string> = {
  none: 'No credentials',
  apiKey: 'API key',
  basic: 'User and password',
  'oauth2/authorizationCode': 'OAuth',
  'oauth2/authorizationCodePKCE': 'OAuth with PKCE',
  'oauth2/clientCredentials': 'OAuth, client credentials',
  'oauth2/password': 'OAuth, password',
  custom: 'Own fields',
};
