import { answerOf, type CallOptions, type Calls } from './calls.ts';
import type {
  BackfillProgress,
  operations,
  PauseReadsRequest,
  ProjectReadState,
  ReadAccepted,
  ReadRequest,
  ReadState,
  SearchRequest,
  SearchResult,
} from './generated/api.ts';
import type { InstallationRef } from './installations.ts';
import { listOf, type List } from './pages.ts';
import type { AnyIntegrations, FilterNameOf, IntegrationOf, IntegrationsShape, ReadOf } from './shape.ts';

type Query = NonNullable<operations['listReadsForProject']['parameters']['query']>;

type Filter<M extends IntegrationsShape, I extends IntegrationOf<M>, O extends ReadOf<M, I>> = Omit<
  SearchRequest['fieldFilters'][number],
  'fieldName'
> & { fieldName: FilterNameOf<M[I]['read'][O]> };

export interface Reads<M extends IntegrationsShape = AnyIntegrations> {
  /** Reads an object of a group now; its records go to the destination of the object. */
  start<I extends IntegrationOf<M>>(
    request: { integration: I; object: ReadOf<M, I> } & Omit<ReadRequest, 'mode'>,
    options?: CallOptions,
  ): Promise<ReadAccepted>;
  /** Schedule, last and next run of each object of an installation. */
  list(of: InstallationRef, options?: CallOptions): Promise<ReadState[]>;
  /** The same of all installations; all that is asked for holds. By installation and object. */
  find(query?: Query, options?: CallOptions): List<ProjectReadState>;
  /** How far the history of an object is read. */
  backfillProgress(
    of: InstallationRef & { object: string },
    options?: CallOptions,
  ): Promise<BackfillProgress>;
  pause(of: InstallationRef & NonNullable<PauseReadsRequest>, options?: CallOptions): Promise<void>;
  unpause(of: InstallationRef & NonNullable<PauseReadsRequest>, options?: CallOptions): Promise<void>;
  /** Records at the provider, by what their fields hold. */
  search<I extends IntegrationOf<M>, O extends ReadOf<M, I>>(
    request: { integration: I; groupRef: string; objectName: O; fieldFilters: Filter<M, I, O>[] },
    options?: CallOptions,
  ): Promise<SearchResult>;
}

const installation =
  '/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}';

export function readsOf<M extends IntegrationsShape = AnyIntegrations>(calls: Calls): Reads<M> {
  const { api, projectIdOrName } = calls;
  const at = ({ integration: integrationId, installationId }: InstallationRef) => ({
    projectIdOrName,
    integrationId,
    installationId,
  });
  return {
    find: finding(calls),
    start: ({ integration: integrationId, object: objectName, ...body }, options = {}) =>
      answerOf(
        api.POST('/read/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}', {
          params: { path: { projectIdOrName, integrationId, objectName } },
          body: { ...body, mode: 'async' },
          ...options,
        }),
      ),
    list: (of, options = {}) =>
      answerOf(api.GET(`/v1${installation}/reads`, { params: { path: at(of) }, ...options })),
    backfillProgress: ({ object: objectName, ...of }, options = {}) =>
      answerOf(
        api.GET(`/v1${installation}/objects/{objectName}/backfill-progress`, {
          params: { path: { ...at(of), objectName } },
          ...options,
        }),
      ),
    pause: ({ integration, installationId, ...body }, options = {}) =>
      answerOf(
        api.POST(`/read/v1${installation}:pause`, {
          params: { path: at({ integration, installationId }) },
          body,
          ...options,
        }),
      ),
    unpause: ({ integration, installationId, ...body }, options = {}) =>
      answerOf(
        api.POST(`/read/v1${installation}:unpause`, {
          params: { path: at({ integration, installationId }) },
          body,
          ...options,
        }),
      ),
    search: ({ integration: integrationId, groupRef, ...body }, options = {}) =>
      answerOf(
        api.POST('/search/v1/projects/{projectIdOrName}/integrations/{integrationId}', {
          params: { path: { projectIdOrName, integrationId }, query: { groupRef } },
          body,
          ...options,
        }),
      ),
  };
}

function finding({ api, projectIdOrName }: Calls): Reads['find'] {
  return ({ pageSize, pageToken, ...filter } = {}, options = {}) =>
    listOf(
      (page) => {
        const params = { path: { projectIdOrName }, query: { ...filter, ...page } };
        return answerOf(api.GET('/v1/projects/{projectIdOrName}/reads', { params, ...options }));
      },
      {
        ...(pageSize === undefined ? {} : { pageSize }),
        ...(pageToken === undefined ? {} : { pageToken }),
      },
    );
}
