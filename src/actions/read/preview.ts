import { record } from '../../events/index.ts';
import { problemOfFailure, type EffectiveReadObject, type Proposed } from '../../installations/index.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import type { Failure, ReadQuery } from '../../providers/index.ts';
import { anyTimeMs, askableNow } from './askable.ts';
import { firstFound } from './first-found.ts';
import { alsoOf } from './linked-page.ts';
import { associatingOf, type ReadDeps } from './prepare.ts';
import { readableObject, type ReadPlace } from './request.ts';
import type { ReadPreview, ReadPreviewRequest } from './schema.ts';
import { shapeOf } from './shape.ts';

/**
 * Reads one record by a config that nobody saved, in the form in which it would be delivered. Nothing is delivered, and no
 * watermark moves. That a record was shown stands in the audit log first.
 */
export async function previewRead(
  deps: ReadDeps,
  principal: Principal,
  { objectName, ...place }: ReadPlace,
  proposal: ReadPreviewRequest,
): Promise<ReadPreview> {
  const target = await deps.installations.propose(principal, place, proposal);
  refuseAnybody(principal);
  refuseColleague(target);
  const asked = readableObject(target, objectName);
  const { projectId, connectionId, groupRef } = target;
  const { read, client, object } = await askableNow(deps, target, asked.objectName, problemOf);
  const shape = shapeOf(asked, object);
  const until = Date.now() + anyTimeMs;
  const { filters } = asked;
  const query: ReadQuery = { object, fields: shape.fields, until, filters, deleted: false };
  const refused = read.refusal(query);
  if (refused) throw problemOf(refused);
  const associating = associatingOf(target, asked);
  const caller = { read, client, mayStillSend: () => true };
  const linking = associating && { ...associating, isCompared: false };
  const fetched = await firstFound(caller, linking, { ...query, limit: 1 });
  if ('failure' in fetched) throw problemOf(fetched.failure);
  const { page, associated } = fetched;
  const [found] = page.records;
  const shown = { ...namesOf(asked), missingFields: shape.missing };
  if (!found) return { ...shown, result: [], ...(page.next === undefined ? {} : { hasMore: true }) };
  const details = { groupRef, objectName: asked.objectName };
  await record(deps.ground.database, {
    projectId,
    action: 'connection.sampled',
    targetId: connectionId,
    details,
  });
  const also = associating && associated ? alsoOf(associating, associated)(found.id) : {};
  return { ...shown, recordId: found.id, result: [{ ...shape.entryOf(found), ...also }] };
}

function namesOf({ deliveredAs, objectName }: EffectiveReadObject): {
  objectName: string;
  rawObjectName: string;
} {
  return { objectName: deliveredAs, rawObjectName: objectName };
}

/** A front-end key in a page can be read by whoever opens it: it shows records of the group only that it is confined to. */
function refuseAnybody({ scopes, groupRef }: Principal): void {
  if (groupRef !== undefined || scopes.some((scope) => scope !== 'frontend')) return;
  throw problem('forbidden', {
    detail: 'A key with the scope frontend alone shows records only when it is confined to a group.',
    remedy: 'Use a front-end token, or a key with a groupRef.',
  });
}

/** Through the account of a colleague a person sees no more than what it is installed for. */
function refuseColleague({ mayShow, connectionId }: Proposed): void {
  if (mayShow) return;
  throw problem('forbidden', {
    detail: `The connection ${connectionId} is another person's, and the integration is not installed with it.`,
    remedy: 'Preview with a connection of your own, or install the integration first.',
  });
}

function problemOf(failure: Failure): Problem {
  return problemOfFailure(failure, { what: 'The preview failed', invalid: 'sample-read-failed' });
}
