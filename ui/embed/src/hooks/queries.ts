import {
  answerOf,
  type Connection,
  type HydratedRevision,
  type Installation,
  type Integration,
  type ProviderInfo,
} from '@svc/client';
import { useQuery, useSvc } from './provider.tsx';
import type { Loaded } from './store.ts';

/** How far an answer is, in the words of the reference hooks. */
export interface Answered {
  error: Error | undefined;
  isPending: boolean;
  isFetching: boolean;
  isError: boolean;
  isSuccess: boolean;
  refetch: () => Promise<void>;
}

function answered({ data, error, isFetching }: Loaded<unknown>, refetch: () => Promise<void>): Answered {
  return {
    error,
    isFetching,
    isPending: data === undefined && error === undefined,
    isError: error !== undefined,
    isSuccess: data !== undefined && error === undefined,
    refetch,
  };
}

export function useIntegration(): Answered & { integration: Integration | undefined } {
  const { svc, store, project, integration } = useSvc();
  const state = useQuery('integration', () =>
    answerOf(
      svc.api.GET('/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}', {
        params: { path: { projectIdOrName: project, integrationIdOrName: integration } },
      }),
    ),
  );
  return { integration: state.data, ...answered(state, () => store.refresh('integration')) };
}

export function useProviderInfo(
  provider: string | undefined,
): Answered & { provider: ProviderInfo | undefined } {
  const { svc, store } = useSvc();
  const key = provider === undefined ? undefined : `provider/${provider}`;
  const state = useQuery(key, () =>
    answerOf(svc.api.GET('/v1/providers/{provider}', { params: { path: { provider: provider ?? '' } } })),
  );
  return { provider: state.data, ...answered(state, () => store.refresh(key ?? 'provider')) };
}

/** The group's connection to a provider, that of the integration unless another is named: the newest that works. */
export function useConnection(given?: {
  provider?: string;
}): Answered & { connection: Connection | undefined } {
  const { svc, store, groupRef } = useSvc();
  const { integration, error } = useIntegration();
  const provider = given?.provider ?? integration?.provider;
  const key = provider === undefined ? undefined : `connection/${provider}`;
  const state = useQuery(key, async () => {
    const [page] = await firstPage(svc.connections.list({ groupRef, provider: provider ?? '' }));
    const found = page?.results ?? [];
    return found.find(({ status }) => status !== 'bad_credentials') ?? found[0] ?? null;
  });
  const failed = provider === undefined ? { ...state, error } : state;
  return {
    connection: state.data ?? undefined,
    ...answered(failed, () => store.refresh('connection')),
  };
}

/** The group's installation of the integration, with its config. */
export function useInstallation(): Answered & { installation: Installation | undefined } {
  const { svc, store, groupRef, integration } = useSvc();
  const state = useQuery('installation', async () => {
    const [page] = await firstPage(svc.installations.list({ integration, groupRef }));
    return page?.results[0] ?? null;
  });
  return {
    installation: state.data ?? undefined,
    ...answered(state, () => store.refresh('installation')),
  };
}

export function useIsIntegrationInstalled(): {
  isLoaded: boolean;
  isLoading: boolean;
  isIntegrationInstalled: boolean | undefined;
  config: Installation['config'] | undefined;
  isError: boolean;
  error: Error | undefined;
} {
  const { installation, isPending, isSuccess, isError, error } = useInstallation();
  return {
    isLoaded: isSuccess,
    isLoading: isPending,
    isIntegrationInstalled: isSuccess ? installation !== undefined : undefined,
    config: installation?.config,
    isError,
    error,
  };
}

/** The latest revision of the integration, with the objects and fields of the connected account. */
export function useRevision(
  connectionId: string | undefined,
): Answered & { revision: HydratedRevision | undefined } {
  const { svc, store, project } = useSvc();
  const { integration } = useIntegration();
  const revisionId = integration?.latestRevision.id;
  const key =
    connectionId === undefined || revisionId === undefined
      ? undefined
      : `revision/${revisionId}/${connectionId}`;
  const state = useQuery(key, () =>
    answerOf(
      svc.api.GET(
        '/v1/projects/{projectIdOrName}/integrations/{integrationId}/revisions/{revisionId}:hydrate',
        {
          params: {
            path: {
              projectIdOrName: project,
              integrationId: integration?.id ?? '',
              revisionId: revisionId ?? '',
            },
            query: { connectionId: connectionId ?? '' },
          },
        },
      ),
    ),
  );
  const refetch = async (): Promise<void> => {
    await store.refresh('integration');
    await store.refresh('revision');
  };
  return { revision: state.data, ...answered(state, refetch) };
}

async function firstPage<Page>(list: { pages(): AsyncGenerator<Page> }): Promise<[Page | undefined]> {
  for await (const page of list.pages()) return [page];
  return [undefined];
}
