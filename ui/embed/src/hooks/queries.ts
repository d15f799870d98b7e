import {
  answerOf,
  type Connection,
  type HydratedRevision,
  type Installation,
  type Integration,
  type ProviderInfo,
  type ReadState,
  type SvcError,
} from '@svc/client';
import { useQuery, useSvc, type SvcContext } from './provider.tsx';
import type { Loaded } from './store.ts';
import { faultOfPage } from './tokens.ts';

/** How far an answer is, in the words of the reference hooks. */
export interface Answered {
  error: SvcError | undefined;
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
    ).catch((cause: SvcError) => {
      throw cause.code === 'not-found'
        ? faultOfPage(`there is no integration ${integration}`, 'page-fault')
        : cause;
    }),
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
  return useAccount(given?.provider);
}

/** The same, but the connection that was chosen, or in its place another one that works of the same account. */
export function useAccount(
  asked: string | undefined,
  chosen?: string,
): Answered & { connection: Connection | undefined } {
  const { svc, store, groupRef } = useSvc();
  const { integration, error } = useIntegration();
  const provider = asked ?? integration?.provider;
  const key = provider === undefined ? undefined : `connection/${provider}`;
  const state = useQuery(key, async () => {
    const [page] = await firstPage(svc.connections.list({ groupRef, provider: provider ?? '' }));
    return page?.results ?? [];
  });
  const failed = provider === undefined ? { ...state, error } : state;
  return {
    connection: accountOf(state.data ?? [], chosen),
    ...answered(failed, () => store.refresh('connection')),
  };
}

/** The newest that works, or the newest that an import did not set aside. What was chosen gives way to no other account when it breaks: it is connected again. */
export function accountOf(found: readonly Connection[], chosen: string | undefined): Connection | undefined {
  const working = found.filter(({ status }) => status !== 'bad_credentials');
  const own = found.find(({ id }) => id === chosen);
  if (!own) return working[0] ?? found.find(({ isAside }) => !isAside);
  const account = own.providerWorkspaceRef;
  const isSame = (one: Connection) => account !== undefined && one.providerWorkspaceRef === account;
  return working.find(({ id }) => id === chosen) ?? working.find(isSame) ?? own;
}

/** What is installed for the group, or `null`. */
export async function installationOf({
  svc,
  integration,
  groupRef,
}: Pick<SvcContext, 'svc' | 'integration' | 'groupRef'>): Promise<Installation | null> {
  const [page] = await firstPage(svc.installations.list({ integration, groupRef }));
  return page?.results[0] ?? null;
}

/** The group's installation of the integration, with its config. */
export function useInstallation(): Answered & { installation: Installation | undefined } {
  const context = useSvc();
  const { store } = context;
  const state = useQuery('installation', () => installationOf(context));
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
  error: SvcError | undefined;
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

/** How the objects of an installation are read; undefined while that is not known. */
export function useReads(installationId: string | undefined, revisionId: string): ReadState[] | undefined {
  const { svc, project, integration } = useSvc();
  // What a deploy took away is known with its revision.
  const key = installationId === undefined ? undefined : `reads/${installationId}/${revisionId}`;
  const { data, error } = useQuery(key, () =>
    answerOf(
      svc.api.GET(
        '/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/reads',
        {
          params: {
            path: {
              projectIdOrName: project,
              integrationId: integration,
              installationId: installationId ?? '',
            },
          },
        },
      ),
    ),
  );
  return error ? undefined : data;
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
