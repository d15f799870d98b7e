import { Type, type Static } from 'typebox';
import { record, type Reach } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { acceptingNothing } from '../../kit/db/lost-commit.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { newId } from '../../kit/ids.ts';
import { pageOf, pageQuery } from '../../kit/paging-schema.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import { findWaiting, unpark, withhold, type Marked } from '../../lanes/index.ts';
import { load, withPayloads, type WorkItem } from '../../operations/index.ts';
import { operationFilter } from '../../operations/schema.ts';
import { mostAtOnce, noteRequest, orRefused, refusedOf } from './of-many.ts';
import { defaultRetryPolicy } from './record/next-step.ts';
import { canceled, settleSynchronous } from './record/settle.ts';
import type { WriteDeps } from './writes.ts';

const closed = { additionalProperties: false } as const;
const { status: _status, actionType: _actionType, partlyDone: _partlyDone, ...filter } = operationFilter;
const CancelOperationsRequest = Type.Object(
  {
    filter: Type.Object(filter, { ...closed, description: 'As of the list, of writes in progress.' }),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Answers the operations that are not done yet; does nothing.' }),
    ),
    pageToken: pageQuery.pageToken,
  },
  { ...closed, title: 'CancelOperationsRequest' },
);

const CanceledOperation = Type.Object(
  {
    operationId: Type.String(),
    refused: refusedOf('Why it goes on.'),
  },
  { ...closed, title: 'CanceledOperation' },
);
type CanceledOperation = Static<typeof CanceledOperation>;

const CanceledOperations = Type.Object(
  {
    ...pageOf(CanceledOperation).properties,
    canceled: Type.Integer({ description: 'Of this page; in a dry run, those that may be.' }),
    refused: Type.Integer(),
  },
  { ...closed, title: 'CanceledOperations' },
);

/** `POST /v1/projects/{p}/operations:cancel`: ends what waits, unsent. */
export function cancelManyRoutes(deps: WriteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/operations::cancel',
      schema: {
        operationId: 'cancelOperations',
        summary: 'End writes that wait, and send nothing more of them',
        description: `Of those that the filter finds, the newest first: at most ${mostAtOnce} in one request, and \`pageToken\` goes on where it ended until \`pagination.done\`. Records that were not done end as failed, and \`:retry\` writes them after all. What is being sent, what may have been sent and what gathers for a batch goes on.`,
        tags: ['operations'],
        params: Type.Object({ projectIdOrName: Type.String() }),
        body: CancelOperationsRequest,
        response: { 200: CanceledOperations },
      },
      config: { scopes: ['write', 'remediate'] },
      handler: async ({ principal, params, body }) => {
        const reach = deps.projects.confine(principal, params.projectIdOrName);
        const { pageToken, dryRun = false } = body;
        const asked = { ...body.filter, actionType: 'write' as const };
        const page = await deps.operations.listUnfinished(reach, asked, mostAtOnce, pageToken);
        if (!dryRun) await noteRequest(deps, reach, 'operation.canceled', body.filter);
        const results: CanceledOperation[] = [];
        for (const one of page.results) results.push(await cancelOne(deps, reach, one, dryRun));
        const refused = results.filter((one) => one.refused).length;
        return { results, pagination: page.pagination, canceled: results.length - refused, refused };
      },
    });
  };
}

async function cancelOne(
  deps: WriteDeps,
  reach: Reach,
  { id: operationId, seq }: { id: string; seq: string | undefined },
  dryRun: boolean,
): Promise<CanceledOperation> {
  const end = await orRefused(async () => {
    if (seq === undefined) throw goesOn('It gathers for a batch, and can be canceled when that is closed.');
    await cancel(deps, reach.projectId, { operationId, seq }, dryRun);
    return {};
  });
  return { operationId, ...end };
}

/** Recorded with who asked for it, in one commit. A dry run only looks. */
async function cancel(
  { ground, operations }: WriteDeps,
  projectId: string,
  { operationId, seq }: { operationId: string; seq: string },
  dryRun: boolean,
): Promise<void> {
  const { database } = ground;
  const waiting = { projectId, seq, ref: operationId, lease: newId() };
  if (dryRun) {
    await unsent(database, await findWaiting(database, 'write', waiting));
    return;
  }
  await acceptingNothing(unpark(database, 'write', waiting));
  await database.transaction(async (tx) => {
    const whole = await unsent(tx, await withhold(tx, 'write', waiting));
    await operations.ends.record(tx, [settleSynchronous(whole, canceled(whole), defaultRetryPolicy)]);
    const details = { groupRef: whole.request['groupRef'] };
    await record(tx, { projectId, action: 'operation.canceled', targetId: operationId, details });
  });
}

/** What waits, and was not sent as far as is known. Throws operation-in-progress for anything else. */
async function unsent(db: Queryable, marked: Marked | undefined): Promise<WorkItem> {
  const [item] = marked ? await load(db, [marked]) : [];
  if (!item) throw goesOn('It is being sent.');
  const whole = await withPayloads(db, item);
  if ([...whole.earlier.values()].some(({ category }) => category === 'unknownOutcome'))
    throw goesOn('It may have been done already; the provider is being asked.');
  return whole;
}

function goesOn(detail: string): Problem {
  return problem('operation-in-progress', { detail, retryAfterSeconds: 5 });
}
