import { answerOf, onlyPage, type CallOptions, type Calls } from './calls.ts';
import type {
  CreateInstallationRequest,
  Installation,
  InstallationPage,
  operations,
  UpdateInstallationRequest,
} from './generated/api.ts';
import { listOf, type List } from './pages.ts';

type Query = NonNullable<operations['listInstallationsForProject']['parameters']['query']>;

/** An installation by its integration and its id. */
export interface InstallationRef {
  integration: string;
  installationId: string;
}

interface Sampling {
  /** Saves without asking the provider whether objects and fields exist. */
  skipSampling?: boolean;
}

export interface Installations {
  /** Newest first; of all integrations unless one is named. */
  list(of?: { integration?: string } & Query, options?: CallOptions): List<Installation>;
  get(ref: InstallationRef, options?: CallOptions): Promise<Installation>;
  create(
    request: { integration: string } & Sampling & CreateInstallationRequest,
    options?: CallOptions,
  ): Promise<Installation>;
  /** With `ifConfigId`, no config is changed that somebody else changed before. */
  update(
    request: InstallationRef & Sampling & { ifConfigId?: string } & UpdateInstallationRequest,
    options?: CallOptions,
  ): Promise<Installation>;
  delete(ref: InstallationRef, options?: CallOptions): Promise<void>;
}

const all = '/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations';
const one = `${all}/{installationId}` as const;

export function installationsOf({ api, projectIdOrName }: Calls): Installations {
  const at = ({ integration: integrationId, installationId }: InstallationRef) => ({
    path: { projectIdOrName, integrationId, installationId },
  });
  const samplingOf = (skipSampling: boolean | undefined) =>
    skipSampling === undefined ? {} : { query: { skipSampling } };
  return {
    list: ({ integration: integrationId, groupRef, healthStatus, ...first } = {}, options = {}) =>
      listOf(async (page) => {
        const query = {
          ...page,
          ...(groupRef === undefined ? {} : { groupRef }),
          ...(healthStatus === undefined ? {} : { healthStatus }),
        };
        const answer =
          integrationId === undefined
            ? api.GET('/v1/projects/{projectIdOrName}/installations', {
                params: { path: { projectIdOrName }, query },
                ...options,
              })
            : api.GET(all, { params: { path: { projectIdOrName, integrationId }, query }, ...options });
        return onlyPage<InstallationPage>(await answerOf(answer));
      }, first),
    get: (ref, options = {}) => answerOf(api.GET(one, { params: at(ref), ...options })),
    create: ({ integration: integrationId, skipSampling, ...body }, options = {}) =>
      answerOf(
        api.POST(all, {
          params: { path: { projectIdOrName, integrationId }, ...samplingOf(skipSampling) },
          body,
          ...options,
        }),
      ),
    update: ({ integration, installationId, skipSampling, ifConfigId, ...body }, options = {}) =>
      answerOf(
        api.PATCH(one, {
          params: {
            ...at({ integration, installationId }),
            query: { ...samplingOf(skipSampling).query, ...(ifConfigId === undefined ? {} : { ifConfigId }) },
          },
          body,
          ...options,
        }),
      ),
    delete: (ref, options = {}) => answerOf(api.DELETE(one, { params: at(ref), ...options })),
  };
}
