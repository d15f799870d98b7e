import { Type, type Static } from 'typebox';
import type { Reach } from '../../events/index.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { refuse } from '../../kit/problem.ts';
import { pageOf, pageQuery } from '../../kit/paging-schema.ts';
import { operationFilter, type Operation } from '../../operations/schema.ts';
import { refuseUnsettled } from './accept/again.ts';
import { mostAtOnce, noteRequest, orRefused, refusedOf } from './of-many.ts';
import { accept, defaultDeadlineHours, planFor, retryOptions, type AskedAgain } from './retry.ts';
import type { WriteDeps } from './writes.ts';

const closed = { additionalProperties: false } as const;
/** How many are looked at at once, of a dry run. */
const width = 4;

const RetryOperationsRequest = Type.Object(
  {
    filter: Type.Object(operationFilter, {
      ...closed,
      description: 'As of the list; `status` is `failure` unless told, and `success` with `partlyDone`.',
    }),
    dryRun: Type.Optional(Type.Boolean({ description: 'Answers what would be done; does nothing.' })),
    ...retryOptions,
    pageToken: pageQuery.pageToken,
  },
  { ...closed, title: 'RetryOperationsRequest' },
);

const RetriedOperation = Type.Object(
  {
    operationId: Type.String(),
    retriedBy: Type.Optional(
      Type.String({
        description: 'The operation that writes the failed records again; of a dry run, where there is one.',
      }),
    ),
    replayed: Type.Optional(
      Type.Literal(true, { description: 'They were written again before; nothing was done now.' }),
    ),
    refused: refusedOf('Why it is not written again.'),
  },
  { ...closed, title: 'RetriedOperation' },
);
type RetriedOperation = Static<typeof RetriedOperation>;

const RetriedOperations = Type.Object(
  {
    ...pageOf(RetriedOperation).properties,
    retried: Type.Integer({
      description: 'Of this page: written again now; in a dry run, those that would be.',
    }),
    before: Type.Integer({ description: 'Of this page: written again before.' }),
    refused: Type.Integer(),
  },
  { ...closed, title: 'RetriedOperations' },
);

/** `POST /v1/projects/{p}/operations:retry`: the same as `:retry` of one, of those that a filter finds. */
export function retryManyRoutes(deps: WriteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/operations::retry',
      schema: {
        operationId: 'retryOperations',
        summary: 'Write the records of many operations again that failed',
        description: `Each as \`retryOperation\` does, once, the oldest first: what failed of one record is written again in the order in which it was accepted, by the clock of the database, and an auto-batch as of when it left. The clocks of nodes, and the time that an auto-batch gathers, change that only where more than 1,000 operations lie between. At most ${mostAtOnce} in one request, and \`pageToken\` goes on where it ended until \`pagination.done\`. What is made by it is not part of it. Asked again, it answers the same operations.`,
        tags: ['operations'],
        params: Type.Object({ projectIdOrName: Type.String() }),
        body: RetryOperationsRequest,
        response: { 200: RetriedOperations },
      },
      config: { scopes: ['write', 'remediate'] },
      handler: async ({ id, principal, params, body }) => {
        const { filter, dryRun = false, retryPolicy, pageToken } = body;
        if (filter.status === 'in_progress')
          throw refuse([
            { in: 'body', name: 'filter.status', detail: 'what is under way has not failed yet' },
          ]);
        const reach = deps.projects.confine(principal, params.projectIdOrName);
        const status = filter.status ?? (filter.partlyDone ? 'success' : 'failure');
        const page = await deps.operations.listOldest(reach, {
          ...filter,
          status,
          pageSize: mostAtOnce,
          ...(pageToken === undefined ? {} : { pageToken }),
        });
        if (!dryRun) await noteRequest(deps, reach, 'operation.retried', filter);
        const deadlineHours = retryPolicy?.deadlineHours ?? defaultDeadlineHours;
        const asked = dryRun ? undefined : { requestId: id, deadlineHours };
        // One after the other, since the order of acceptance is that in which a record is written.
        const results = await inTurn(page.results, dryRun ? width : 1, (one) =>
          retryOne(deps, reach, one, asked),
        );
        const refused = results.filter((one) => one.refused).length;
        const before = results.filter((one) => one.replayed).length;
        const retried = results.length - refused - before;
        return { results, pagination: page.pagination, retried, before, refused };
      },
    });
  };
}

/** Of a dry run nothing is asked, and nothing is done. */
async function retryOne(
  deps: WriteDeps,
  reach: Reach,
  { id: operationId, retriedBy }: Operation,
  asked: AskedAgain | undefined,
): Promise<RetriedOperation> {
  const end = await orRefused(async () => {
    if (retriedBy !== undefined) {
      await refuseUnsettled(deps.operations, reach.projectId, operationId);
      return { retriedBy, replayed: true as const };
    }
    const planned = await planFor(deps, await deps.operations.written(reach, operationId));
    if (!asked) return {};
    const { operationId: by, replayed } = await accept(deps, planned, asked);
    return { retriedBy: by, ...(replayed ? { replayed } : {}) };
  });
  return { operationId, ...end };
}

async function inTurn<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await allOf(items.slice(from, from + atOnce).map(work))));
  return results;
}

/** Fails once all have ended: only then is it known what was done. */
async function allOf<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
