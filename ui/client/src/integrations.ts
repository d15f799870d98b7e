import { answerOf, onlyPage, type CallOptions, type Calls } from './calls.ts';
import type { DeployedIntegration, DeployPreview, Integration, IntegrationPage } from './generated/api.ts';
import { listOf, type List, type PageQuery } from './pages.ts';

export interface Integrations {
  list(query?: PageQuery, options?: CallOptions): List<Integration>;
  /** What a deploy of this manifest would change; nothing is written. */
  preview(sourceYaml: string, options?: CallOptions & { destructive?: boolean }): Promise<DeployPreview>;
  /** Deploys a manifest. With `destructive`, what it no longer holds ends for the installations that have it. */
  deploy(
    sourceYaml: string,
    options?: CallOptions & { destructive?: boolean },
  ): Promise<DeployedIntegration[]>;
}

const all = '/v1/projects/{projectIdOrName}/integrations';

export function integrationsOf({ api, projectIdOrName }: Calls): Integrations {
  const path = { projectIdOrName };
  const put = (
    sourceYaml: string,
    query: { dryRun?: boolean; destructive?: boolean },
    options: CallOptions,
  ) => answerOf(api.PUT(`${all}:batch`, { params: { path, query }, body: { sourceYaml }, ...options }));
  return {
    list: (first = {}, options = {}) =>
      listOf(
        async (query) =>
          onlyPage<IntegrationPage>(await answerOf(api.GET(all, { params: { path, query }, ...options }))),
        first,
      ),
    preview: async (sourceYaml, { destructive = false, ...options } = {}) =>
      (await put(sourceYaml, { dryRun: true, destructive }, options)) as DeployPreview,
    deploy: async (sourceYaml, { destructive = false, ...options } = {}) =>
      (await put(sourceYaml, { destructive }, options)) as DeployedIntegration[],
  };
}
