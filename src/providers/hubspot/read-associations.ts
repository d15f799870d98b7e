import type { HttpAnswer } from '../../kit/http/client.ts';
import { isExactNumber } from '../../kit/json.ts';
import { bodyOf, idOf, isObject, isSuccess, objectsIn } from '../answer.ts';
import type { AssociatedRecord, AssociationsOf, ReadAssociationsAbility } from '../connector.ts';
import { invalidCall, type Failure } from '../failure.ts';
import { failureOf } from './failure.ts';
import { isOwners } from './owners.ts';
import { associationsPath, faultOfObjectName, recordId } from './paths.ts';
import { detailedPage, detailRequests, failureOfDetails } from './read.ts';
import { restIn } from './records.ts';

/** By the batch read, which tells the labels, too; neither a search nor a list does. */
export const readAssociations: ReadAssociationsAbility = {
  recordsPerRead: 1_000,
  refusal(objectName, to) {
    const fault = faultOfObjectName(objectName) ?? faultOfObjectName(to);
    if (fault || (!isOwners(objectName) && !isOwners(to))) return fault;
    return invalidCall('owners have no associations at HubSpot');
  },
  build: (objectName, to, of) => ({
    method: 'POST',
    path: associationsPath(objectName, to),
    body: { inputs: of.map(({ id, after }) => (after === undefined ? { id } : { id, after })) },
  }),
  judge,
  buildRecords: detailRequests,
  judgeRecords(query, ids, answers) {
    const judged = detailedPage(query, new Set(ids), answers, {});
    return 'page' in judged ? { records: judged.page.records } : judged;
  },
};

interface Linked {
  id: string;
  to: AssociatedRecord[];
  after: string | undefined;
}

/** A record without associations is an entry under `errors`, and makes the status 207. */
function judge(
  of: readonly AssociationsOf[],
  answer: HttpAnswer,
): { found: Map<string, AssociatedRecord[]>; more: AssociationsOf[] } | { failure: Failure } {
  const body = isSuccess(answer) ? bodyOf(answer) : undefined;
  const results = isObject(body) && body['status'] === 'COMPLETE' ? body['results'] : undefined;
  const failure = failureOfDetails(answer);
  if (!Array.isArray(results) || failure) return { failure: failure ?? failureOf(answer) };
  const asked = new Map(of.map(({ id, after }) => [id, after]));
  const linked = results.map(linkedOf);
  // Whoever names another record, or the place that was asked for, would be asked for ever.
  if (!linked.every((one) => one !== undefined && isNew(asked, one))) return { failure: failureOf(answer) };
  const found = new Map<string, AssociatedRecord[]>(of.map(({ id }) => [id, []]));
  for (const { id, to } of linked as Linked[]) found.get(id)?.push(...to);
  const more = (linked as Linked[]).flatMap(({ id, after }) => (after === undefined ? [] : [{ id, after }]));
  return { found, more };
}

function isNew(asked: ReadonlyMap<string, string | undefined>, { id, after }: Linked): boolean {
  return asked.has(id) && (after === undefined || after !== asked.get(id));
}

function linkedOf(result: unknown): Linked | undefined {
  if (!isObject(result) || !isObject(result['from']) || !Array.isArray(result['to'])) return undefined;
  const id = idOf(result['from']['id']);
  const to = result['to'].map(associatedOf);
  const rest = restIn(result);
  if (id === undefined || !rest || !to.every((one) => one !== undefined)) return undefined;
  return { id, to, after: rest.after };
}

/** `toObjectId` is a number, although it is documented as a text. */
function associatedOf(entry: unknown): AssociatedRecord | undefined {
  if (!isObject(entry)) return undefined;
  const told = entry['toObjectId'];
  const id = isExactNumber(told) ? told.rawJSON : idOf(told);
  const types = objectsIn(entry['associationTypes']);
  return id !== undefined && recordId.test(id) && types ? { id, types } : undefined;
}
