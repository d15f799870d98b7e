import type { Reach } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { isId } from '../kit/ids.ts';
import { badToken, readToken, tokenOf } from '../kit/paging.ts';
import {
  asksForNothing,
  eitherWayOf,
  filterOf,
  firstId,
  mostLookedAt,
  walksEitherWay,
  walksEitherWayOfGroup,
  type OperationSlice,
  type Question,
} from './list.ts';
import {
  acceptancesOf,
  momentNow,
  pickOperations,
  walkFromOldest,
  type Acceptance,
  type EitherWay,
} from './store/lists.ts';

/** What a list from the oldest on has given out: all up to the id `low`, and up to the id `high` what was accepted up to `last`. */
export interface Given {
  low: string;
  high: string;
  last: Acceptance;
}

const nothing: Given = { low: firstId, high: firstId, last: { id: firstId, accepted: 0 } };

/**
 * The operations that a question asks for and that are not under way, in the order of acceptance. An id tells the time by the clock of a
 * node, and no index has the time of acceptance: a slice is chosen from as many ids as may be looked at, and the order holds where no more
 * than half of them lie between. What is accepted after the first slice was asked for is in none.
 */
export async function listOldestOperations(
  db: Queryable,
  reach: Reach,
  question: Question,
  size: number,
  pageToken?: string,
): Promise<OperationSlice> {
  const asked = filterOf(question);
  const { name, given, acceptedUntil } =
    pageToken === undefined
      ? { name: eitherWayOf(reach, asked), given: nothing, acceptedUntil: await momentNow(db) }
      : placeIn(reach, pageToken);
  if (asksForNothing(reach, asked)) return { found: [] };
  const filter = { ...asked, acceptedUntil };
  const seen = await walkFromOldest(db, name, reach, filter, given.low, mostLookedAt);
  const looked = seen.map(({ place }) => place);
  const found = await acceptancesOf(db, reach, filter, looked);
  const isOver = looked.length < mostLookedAt;
  const { chosen, isAll, given: next } = chooseOldest(given, { looked, found, isOver }, size);
  const rows = await pickOperations(db, reach, filter, chosen);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const slice = chosen.flatMap((id) => byId.get(id) ?? []).map((row) => ({ row }));
  if (isAll && isOver) return { found: slice };
  return { found: slice, nextPageToken: tokenOf(placeOf(name, next, acceptedUntil)) };
}

/** The ids that were looked at, which go up, what was found among them, and whether there are no more. */
export interface LookedAt {
  looked: readonly string[];
  found: readonly Acceptance[];
  isOver: boolean;
}

/** The next of what was found, and whether nothing is left of it. Pure. */
export function chooseOldest(
  given: Given,
  { looked, found, isOver }: LookedAt,
  size: number,
): { chosen: string[]; isAll: boolean; given: Given } {
  const rest = found.filter((one) => !isGiven(given, one)).toSorted(inOrder);
  // Accepted before what was given out, but further behind than could be looked at for that.
  const late = rest.filter((one) => inOrder(one, given.last) <= 0);
  const isCrowded = late.length > size;
  // What is newer than all of the first half may have an older one behind the ids that were looked at.
  const middle = looked[Math.ceil(looked.length / 2) - 1] ?? given.low;
  const sure = isOver ? rest.length : Math.max(late.length, rest.findLastIndex(({ id }) => id <= middle) + 1);
  const chosen = isCrowded
    ? late.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, size)
    : rest.slice(0, Math.min(size, sure));
  const newest = chosen.at(-1) ?? given.last;
  const next: Given = isCrowded
    ? { ...given, high: newest.id }
    : {
        low: given.low,
        high: looked.at(-1) ?? given.high,
        last: inOrder(newest, given.last) > 0 ? newest : given.last,
      };
  const open = new Set(rest.filter((one) => !isGiven(next, one)).map(({ id }) => id));
  const firstOpen = looked.findIndex((id) => open.has(id));
  const low = firstOpen < 0 ? looked.at(-1) : looked[firstOpen - 1];
  return {
    chosen: chosen.toSorted(inOrder).map(({ id }) => id),
    isAll: open.size === 0,
    given: { ...next, low: low ?? given.low },
  };
}

function isGiven({ low, high, last }: Given, one: Acceptance): boolean {
  return one.id <= low || (one.id <= high && inOrder(one, last) <= 0);
}

function inOrder(a: Acceptance, b: Acceptance): number {
  if (a.accepted !== b.accepted) return a.accepted - b.accepted;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function placeOf(name: EitherWay, { low, high, last }: Given, acceptedUntil: string): string {
  return `oldest ${name} ${low} ${high} ${last.accepted} ${last.id} ${acceptedUntil}`;
}

function placeIn(
  { groupRef }: Reach,
  token: string,
): { name: EitherWay; given: Given; acceptedUntil: string } {
  const form = /^oldest (\w+) (\S+) (\S+) (\d{1,16}) (\S+) (\d{1,18})$/;
  const [, name = '', low = '', high = '', accepted = '', id = '', acceptedUntil = ''] =
    form.exec(readToken(token)) ?? [];
  const names = groupRef === undefined ? walksEitherWay : walksEitherWayOfGroup;
  if (!names.has(name) || ![low, high, id].every(isId)) throw badToken();
  const given = { low, high, last: { id, accepted: Number(accepted) } };
  return { name: name as EitherWay, given, acceptedUntil };
}
