import {
  failureOfRead,
  type AssociatedRecord,
  type AssociationsOf,
  type Failure,
  type ProviderClient,
  type ReadAssociationsAbility,
  type ReadQuery,
  type ReadRecord,
} from '../../providers/index.ts';
import { sendOrExplain } from '../send.ts';
import { digestsOf, isChanged, type Associated, type AssociatedObject } from './associations.ts';
import type { KnownLink } from './store/links.ts';

/** How associations of an object are asked for. */
export interface Associating {
  ability: ReadAssociationsAbility;
  objects: readonly AssociatedObject[];
  /** What was delivered is remembered, for changes to be found by it. */
  isCompared: boolean;
}

/** What is to be remembered of a record: if it is delivered, and `asFound` also if it is not. */
export interface FoundLink {
  recordId: string;
  digests: Buffer;
  /** What was remembered of it. */
  before?: Buffer;
  asFound: boolean;
}

/** What the records of a page are associated with. */
export interface AssociatedPage {
  byId: ReadonlyMap<string, Associated>;
  links: FoundLink[];
}

interface Caller {
  client: ProviderClient;
  mayStillSend(): boolean;
}

/** With more in one page, the page is asked for again with fewer records. */
const mostOfPage = 100_000;

/** The associations of the records; `tooMany`: there are more than are held at once. */
export async function fetchAssociations(
  caller: Caller,
  { ability, objects }: Associating,
  objectName: string,
  ids: readonly string[],
): Promise<{ byId: Map<string, Associated> } | { failure: Failure } | { tooMany: true }> {
  const byId = new Map(ids.map((id): [string, AssociatedRecord[][]] => [id, objects.map(() => [])]));
  let count = 0;
  for (const [at, { objectName: to }] of objects.entries()) {
    const refused = ability.refusal(objectName, to);
    if (refused) return { failure: refused };
    const groups: AssociationsOf[][] = inGroups(
      ids.map((id) => ({ id })),
      ability.recordsPerRead,
    );
    for (let of = groups.shift(); of; of = groups.shift()) {
      const asked = await askFor(caller, ability, { objectName, to, of });
      if ('failure' in asked) return asked;
      if ('tooLarge' in asked) {
        if (of.length < 2) return { failure: asked.tooLarge };
        groups.unshift(...inGroups(of, Math.ceil(of.length / 2)));
        continue;
      }
      for (const [id, found] of asked.found) {
        count += found.length;
        for (const one of found) byId.get(id)?.[at]?.push(one);
      }
      if (count > mostOfPage && ids.length > 1) return { tooMany: true };
      groups.push(...inGroups(asked.more, ability.recordsPerRead));
    }
  }
  return { byId };
}

interface Question {
  objectName: string;
  to: string;
  of: readonly AssociationsOf[];
}

async function askFor(
  caller: Caller,
  ability: ReadAssociationsAbility,
  { objectName, to, of }: Question,
): Promise<ReturnType<ReadAssociationsAbility['judge']> | { tooLarge: Failure }> {
  const request = ability.build(objectName, to, of);
  const sent = await sendOrExplain(caller, request, () => caller.mayStillSend());
  if ('failure' in sent) return sent;
  if ('answer' in sent) return ability.judge(of, sent.answer);
  const failure = failureOfRead(sent.fault);
  return sent.fault.kind === 'tooLarge' ? { tooLarge: failure } : { failure };
}

function inGroups<One>(all: readonly One[], size: number): One[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_group, at) =>
    all.slice(at * size, (at + 1) * size),
  );
}

/** What is remembered of records that are delivered. */
export function linksOf({ objects }: Associating, byId: ReadonlyMap<string, Associated>): FoundLink[] {
  return [...byId].map(([recordId, associated]) => ({
    recordId,
    digests: digestsOf(objects, associated),
    asFound: false,
  }));
}

/**
 * Compares what records are associated with to what was delivered. One of which nothing is known was not delivered since
 * associations are asked for: it is where comparing begins. What was not looked at for long is marked as found again.
 */
export function compared(
  links: readonly FoundLink[],
  known: ReadonlyMap<string, KnownLink>,
): { links: FoundLink[]; changed: string[] } {
  const changed: string[] = [];
  const found = links.map((link): FoundLink => {
    const before = known.get(link.recordId);
    if (!before) return { ...link, asFound: true };
    const differs = isChanged(before.digests, link.digests);
    if (differs) changed.push(link.recordId);
    const isNew = before.isOld || !before.digests.equals(link.digests);
    return { ...link, before: before.digests, asFound: !differs && isNew };
  });
  return { links: found, changed };
}

/** The records as they are after their associations were read: a delivered record is never older than these. */
export async function fetchRecords(
  caller: Caller,
  ability: ReadAssociationsAbility,
  query: ReadQuery,
  ids: readonly string[],
): Promise<{ records: ReadRecord[] } | { failure: Failure }> {
  const answers = [];
  for (const request of ability.buildRecords(query, ids)) {
    const sent = await sendOrExplain(caller, request, () => caller.mayStillSend());
    if ('failure' in sent) return sent;
    if ('fault' in sent && sent.fault.kind === 'tooLarge' && ids.length > 1)
      return inHalves(ids, (some) => fetchRecords(caller, ability, query, some));
    if ('fault' in sent) return { failure: failureOfRead(sent.fault) };
    answers.push(sent.answer);
  }
  return ability.judgeRecords(query, ids, answers);
}

async function inHalves(
  ids: readonly string[],
  fetchSome: (some: readonly string[]) => ReturnType<typeof fetchRecords>,
): ReturnType<typeof fetchRecords> {
  const records: ReadRecord[] = [];
  for (const some of inGroups(ids, Math.ceil(ids.length / 2))) {
    const fetched = await fetchSome(some);
    if ('failure' in fetched) return fetched;
    records.push(...fetched.records);
  }
  return { records };
}
