import { queryOptions } from '@tanstack/react-query';
import type { Connection } from '@svc/client';
import { answer, api } from '../../data/api.ts';
import type { Tone } from '../../ui/badge.tsx';

/** How often what providers said of their budgets is read again where it is shown. */
export const budgetAgainMs = 15_000;

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

/** Whether there is a group of this reference, or was one that was not erased. */
export const groupQuery = (project: string, groupRef: string) =>
  queryOptions({
    queryKey: [project, 'connections', 'group', groupRef],
    queryFn: async () => {
      const { hits } = await answer(
        api.GET('/v1/projects/{projectIdOrName}/search', {
          params: { path: { projectIdOrName: project }, query: { q: groupRef } },
        }),
      );
      return hits.some(({ type, id }) => type === 'group' && id === groupRef);
    },
    retry: false,
  });

/** Whether an export took it to another server: to connect it again here would only part the two. */
export const isMoved = ({ status, statusDetail }: Connection): boolean =>
  status === 'bad_credentials' && statusDetail?.startsWith('It was moved to another server') === true;

/** What is shown of how it is. What an import set aside waits for nobody. */
export const stateOf = ({ status, isAside }: Connection): [word: string, tone: Tone] =>
  isAside ? ['Set aside', 'info'] : connectionStates[status];

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
