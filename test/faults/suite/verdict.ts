import type { Accepted } from './callers.ts';

/** What the platform says of one record at the end. */
export interface RecordState {
  operationId: string;
  marker: string;
  status: string;
  kind: 'applied' | 'notApplied' | 'unknown' | null;
  recordId: string | null;
  message: string | null;
}

export interface Effect {
  marker: string;
  kind: string;
  id: string;
}

export interface Evidence {
  accepted: readonly Accepted[];
  records: readonly RecordState[];
  /** In the order in which they happened, provider by provider. */
  effects: readonly Effect[];
  /** Markers whose answer a fault took away. */
  lostAnswers: ReadonlySet<string>;
  /** Operations that have not ended, and rows that keep work. */
  left: number;
}

/** What is wrong, by its markers. */
export type Violations = Record<
  | 'lost'
  | 'duplicates'
  | 'stuck'
  | 'falseSuccess'
  | 'falseFailure'
  | 'unknownResolvable'
  | 'unexplained'
  | 'outOfOrder',
  string[]
>;

export interface Verdict {
  accepted: number;
  records: number;
  unknown: number;
  /** Answers that were lost where no key exists: taken by a fault, or meant for a node that was gone or frozen. */
  lostAnswers: number;
  violations: Violations;
}

/** Nobody told these outcomes to a node that could have kept them; a call may also take longer than it may. */
const lostWithItsNode = /the node that sent it stopped|no complete answer within|another node has taken/;

/** Compares the two outside ledgers with what the platform says. Pure. */
export function judge({ accepted, records, effects, lostAnswers, left }: Evidence): Verdict {
  const requests = new Map(accepted.flatMap((one) => one.markers.map((marker) => [marker, one])));
  const states = Map.groupBy(records, ({ marker }) => marker);
  const byMarker = Map.groupBy(effects, ({ marker }) => marker);
  const done = (marker: string, kind?: string): boolean =>
    byMarker.get(marker)?.some((effect) => kind === undefined || effect.kind === kind) ?? false;

  const lost = [...requests].flatMap(([marker, { operationId }]) =>
    states.get(marker)?.some((state) => state.operationId === operationId) ? [] : [marker],
  );
  const unknown = records.filter(({ kind }) => kind === 'unknown');
  const isKeyedCreate = (marker: string): boolean => {
    const request = requests.get(marker);
    return request?.kind === 'create' && request.keyed;
  };
  const withoutKey = unknown.filter(({ marker }) => !isKeyedCreate(marker));
  const unexplained = withoutKey.filter(
    ({ marker, message }) => !lostAnswers.has(marker) && !lostWithItsNode.test(message ?? ''),
  );
  const byNode = withoutKey.filter(({ marker }) => !lostAnswers.has(marker)).length - unexplained.length;
  const byFault = [...lostAnswers].filter((marker) => !isKeyedCreate(marker)).length;
  return {
    accepted: accepted.length,
    records: requests.size,
    unknown: unknown.length,
    lostAnswers: byFault + byNode,
    violations: {
      lost,
      duplicates: [...duplicatesAtProvider(byMarker), ...duplicatesInLedger(states)],
      stuck: [
        ...records.flatMap(({ marker, status, kind }) =>
          status === 'in_progress' || kind === null ? [marker] : [],
        ),
        ...Array.from({ length: left }, () => 'work'),
      ],
      falseSuccess: [
        ...records.flatMap((state) =>
          isFalseSuccess(state, byMarker.get(state.marker)) ? [state.marker] : [],
        ),
        ...claims(accepted, 'applied').filter((marker) => !done(marker)),
      ],
      falseFailure: [
        ...records.flatMap(({ marker, kind }) => (kind === 'notApplied' && done(marker) ? [marker] : [])),
        ...claims(accepted, 'notApplied').filter((marker) => done(marker)),
      ],
      unknownResolvable: unknown.flatMap(({ marker }) => (isKeyedCreate(marker) ? [marker] : [])),
      unexplained: unexplained.map(({ marker }) => marker),
      outOfOrder: outOfOrder(effects, requests),
    },
  };
}

function duplicatesAtProvider(byMarker: ReadonlyMap<string, readonly Effect[]>): string[] {
  return [...byMarker].flatMap(([marker, effects]) =>
    effects
      .filter(({ kind }) => kind === 'create')
      .slice(1)
      .map(() => marker),
  );
}

function duplicatesInLedger(states: ReadonlyMap<string, readonly RecordState[]>): string[] {
  return [...states].flatMap(([marker, found]) => found.slice(1).map(() => marker));
}

/** Also a success with the id of another record: an answer that was matched by position. */
function isFalseSuccess({ kind, recordId }: RecordState, effects: readonly Effect[] = []): boolean {
  if (kind !== 'applied') return false;
  if (effects.length === 0) return true;
  return recordId !== null && !effects.some(({ id }) => id === recordId);
}

function claims(accepted: readonly Accepted[], claim: Accepted['claim']): string[] {
  return accepted.flatMap((one) => (one.claim === claim ? one.markers : []));
}

/** One line for whoever has to find out. */
export function describeMarker(marker: string, { accepted, records, effects }: Evidence): string {
  const request = accepted.find(({ markers }) => markers.includes(marker));
  const states = records.filter((state) => state.marker === marker);
  const done = effects.filter((effect) => effect.marker === marker).map(({ kind, id }) => `${kind} ${id}`);
  const said = states.map(({ operationId, status, kind, message }) =>
    [operationId, status, kind, message].filter(Boolean).join(' '),
  );
  const asked = request
    ? [request.route, request.kind, request.object, request.claim, JSON.stringify(request.target)]
    : ['not accepted'];
  return `${marker}: ${asked.filter(Boolean).join(' ')}; said: ${said.join(' | ') || '-'}; done: ${done.join(', ') || '-'}`;
}

/**
 * A change never comes after a later one of the same record. Changes of one operation may be repeated together, in their
 * order, when nobody knows how far an attempt of it came: the last of them stands all the same.
 */
function outOfOrder(effects: readonly Effect[], requests: ReadonlyMap<string, Accepted>): string[] {
  const last = new Map<string, { marker: string; order: number; operationId: string }>();
  const greatest = new Map<string, number>();
  const found: string[] = [];
  for (const { marker, kind } of effects) {
    const request = requests.get(marker);
    if (kind !== 'update' || !request?.target?.ordered) continue;
    const { operationId } = request;
    const { id, order } = request.target;
    const before = last.get(id);
    if (before && order < before.order && before.operationId !== operationId) found.push(marker);
    last.set(id, { marker, order, operationId });
    greatest.set(id, Math.max(order, greatest.get(id) ?? 0));
  }
  for (const [id, { marker, order }] of last) if (order !== greatest.get(id)) found.push(marker);
  return found;
}
