import { Type } from 'typebox';
import type { Database } from '../kit/db/database.ts';
import type { HttpServer } from '../kit/http/server.ts';
import type { Projects } from '../projects/index.ts';
import { overview } from './overview.ts';
import { Overview, OverviewQuery, SearchQuery, SearchHits } from './schema.ts';
import { search } from './search.ts';

const tags = ['projects'];
const ProjectParams = Type.Object(
  { projectIdOrName: Type.String({ description: 'Project id or name.' }) },
  { additionalProperties: false },
);

export interface OverviewRouteDeps {
  ground: { database: Database };
  projects: Pick<Projects, 'confine'>;
}

/** What a project looks like at once, and where something in it is, below `/v1`. */
export function overviewRoutes({
  ground: { database },
  projects,
}: OverviewRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/search',
      schema: {
        operationId: 'searchProject',
        summary: 'Find something by its id, a reference, a name or a record id',
        description:
          'Twenty hits at the most, what is called exactly so first. Names and references are found by their beginning, whatever the case. Keys, provider apps, links and entries of the audit log are found with the scope `full` alone; credentials of a group find what is of that group, and no members. A provider’s id of a record leads to the newest operations that wrote the record, or failed to, and to the newest deliveries that carry it; their name is then the object and the id.',
        tags,
        params: ProjectParams,
        querystring: SearchQuery,
        response: { 200: SearchHits },
      },
      config: { scopes: ['read'] },
      handler: ({ principal, params, query }) => {
        const isFull = principal.scopes.includes('full');
        return search(database, projects.confine(principal, params.projectIdOrName), { q: query.q, isFull });
      },
    });
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/overview',
      schema: {
        operationId: 'getOverview',
        summary: 'Get what needs attention in a project, and how its work went',
        description:
          'Answered from counts that are kept: it takes as long with a million operations as with none. `activity` is behind by two seconds.',
        tags,
        params: ProjectParams,
        querystring: OverviewQuery,
        response: { 200: Overview },
      },
      config: { scopes: ['read'], projectWide: true },
      handler: ({ principal, params, query }) => {
        const { projectId } = projects.confine(principal, params.projectIdOrName);
        return overview(database, projectId, query.range);
      },
    });
  };
}
