import type { Accepted } from './callers.ts';
import type { Disturbance } from './chaos.ts';
import type { Effect, Span } from './provider-ledger.ts';

/** The platform's report on one record at the end. */
export interface RecordState {
  operationId: string;
  marker: string;
  status: string;
  kind: 'applied' | 'notApplied' | 'unknown' | null;
  recordId: string | null;
  message: string | null;
}

export interface Evidence {
  accepted: readonly Accepted[];
  records: readonly RecordState[];
  /** Markers of writes that were refused and not sent again. */
  givenUp: ReadonlySet<string>;
  /** In the order in which they happened, provider by provider. */
  effects: readonly Effect[];
  /** Markers whose answer a fault took away. */
  lostAnswers: ReadonlySet<string>;
  /** When the providers were asked, by marker. */
  asked: ReadonlyMap<string, Span>;
  /** When nodes died or stood still, and when the database was away. */
  disturbances: readonly Disturbance[];
  /** How long after a request its answer may still be awaited, in milliseconds. */
  answerMs: number;
  /** Operations that have not ended, and rows that keep work. */
  left: number;
}

/** The violations, by marker. */
export type Violations = Record<
  | 'lost'
  | 'duplicates'
  | 'stuck'
  | 'falseSuccess'
  | 'falseFailure'
  | 'falseRefusal'
  | 'unknownResolvable'
  | 'unexplained'
  | 'outOfOrder'
  | 'torn'
  | 'overwritten',
  string[]
>;

export interface Verdict {
  accepted: number;
  records: number;
  unknown: number;
  /** Answers that were lost where no key exists: taken by a fault, or meant for a node that could not keep them. */
  lostAnswers: number;
  violations: Violations;
}

/** Compares the ledgers of callers and providers with the platform's report. Pure. */
export function judge(evidence: Evidence): Verdict {
  const { accepted, records, givenUp, effects, lostAnswers, left } = evidence;
  const requests = new Map(accepted.flatMap((one) => one.markers.map((marker) => [marker, one])));
  const states = Map.groupBy(records, ({ marker }) => marker);
  const byMarker = Map.groupBy(effects, ({ marker }) => marker);
  const done = (marker: string): boolean => byMarker.has(marker);

  const lost = [...requests].flatMap(([marker, { operationId, isInDoubt }]) =>
    states.get(marker)?.some((state) => state.operationId === operationId) || (isInDoubt && !done(marker))
      ? []
      : [marker],
  );
  const unknown = records.filter(({ kind }) => kind === 'unknown').map(({ marker }) => marker);
  const isResolvable = (marker: string): boolean => {
    const request = requests.get(marker);
    return request !== undefined && canBeKnown(request);
  };
  const notLost = unknown.filter((marker) => !isResolvable(marker) && !lostAnswers.has(marker));
  const queuedMs = longestQueuedMs(evidence);
  const unexplained = notLost.filter(
    (marker) => !wasDisturbed(marker, requests.get(marker), { ...evidence, queuedMs }),
  );
  const byFault = [...lostAnswers].filter((marker) => !isResolvable(marker)).length;
  return {
    accepted: accepted.length,
    records: requests.size,
    unknown: unknown.length,
    lostAnswers: byFault + notLost.length - unexplained.length,
    violations: {
      lost,
      duplicates: [...duplicatesAtProvider(byMarker), ...duplicatesInLedger(states, requests)],
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
        ...records.flatMap((state) =>
          state.kind === 'notApplied' && done(state.marker) && !isEarlier(state, requests.get(state.marker))
            ? [state.marker]
            : [],
        ),
        ...claims(accepted, 'notApplied').filter((marker) => done(marker)),
      ],
      falseRefusal: [...givenUp].filter(done),
      unknownResolvable: unknown.filter(isResolvable),
      unexplained,
      outOfOrder: outOfOrder(effects, requests),
      torn: torn(accepted, states, done),
      overwritten: overwritten(effects),
    },
  };
}

/**
 * A lost create is found by its key; a lost upsert is repeated, and so is a change or a deletion that nobody waits for, which no
 * write of a run gathers or queues for as long as its deadline.
 */
function canBeKnown({ kind, keyed, route }: Accepted): boolean {
  if (kind === 'create') return keyed;
  return kind === 'upsert' || route !== 'synchronous';
}

/** How long any accepted write waited until its provider was first asked, in milliseconds. */
function longestQueuedMs({ accepted, asked }: Evidence): number {
  return accepted.reduce((longest, { markers, at }) => {
    const waits = markers.map((marker) => (asked.get(marker)?.first ?? at) - at);
    return Math.max(longest, ...waits);
  }, 0);
}

/** Whether a node died or stood still, or the database was away, while an answer was awaited. */
function wasDisturbed(
  marker: string,
  request: Accepted | undefined,
  { asked, disturbances, answerMs, queuedMs }: Evidence & { queuedMs: number },
): boolean {
  const span = asked.get(marker);
  // Without a span the write was marked and cut off before its first byte, at a time that only the node knew: no later than a
  // write waits in this run. When a request came that was not accepted nobody noted.
  const { since, at, route } = request ?? { since: 0, at: Infinity, route: undefined };
  const from = span?.first ?? since;
  const until = (span?.last ?? at + (route === 'synchronous' ? 0 : queuedMs)) + answerMs;
  return disturbances.some((one) => one.from <= until && one.until >= from);
}

function duplicatesAtProvider(byMarker: ReadonlyMap<string, readonly Effect[]>): string[] {
  return [...byMarker].flatMap(([marker, effects]) =>
    effects
      .filter(({ kind }) => kind === 'create')
      .slice(1)
      .map(() => marker),
  );
}

/**
 * Operations beside the one that the caller was told of. An earlier request that got no answer may have left one, which
 * ended without effect before the request was repeated. One without a key of which the caller was told that nothing was sent is of
 * unknown outcome where its node died before it could end it.
 */
function duplicatesInLedger(
  states: ReadonlyMap<string, readonly RecordState[]>,
  requests: ReadonlyMap<string, Accepted>,
): string[] {
  return [...states].flatMap(([marker, found]) => {
    const request = requests.get(marker);
    const mayBeUnknown = request?.route === 'synchronous' && !request.hasKey;
    const earlier = found.filter(
      (state) =>
        isEarlier(state, request) &&
        (state.kind === 'notApplied' || (state.kind === 'unknown' && mayBeUnknown)),
    );
    const allowed = Math.min(earlier.length, request?.before.length ?? 0);
    return found.slice(1 + allowed).map(() => marker);
  });
}

/** Whether the operation is not the one that the caller was told of, so that an effect may be of the other. */
function isEarlier({ operationId }: RecordState, request: Accepted | undefined): boolean {
  return request !== undefined && request.operationId !== operationId;
}

/** Also a success with the id of another record: an answer that was matched by position. */
function isFalseSuccess({ kind, recordId }: RecordState, effects: readonly Effect[] = []): boolean {
  if (kind !== 'applied') return false;
  if (effects.length === 0) return true;
  return recordId !== null && !effects.some(({ id }) => isSameId(id, recordId));
}

/** Salesforce's ids of 15 and of 18 characters name one record. */
function isSameId(one: string, other: string): boolean {
  return one === other || (other.length === 15 && one.startsWith(other));
}

function claims(accepted: readonly Accepted[], claim: Accepted['claim']): string[] {
  return accepted.flatMap((one) => (one.claim === claim ? one.markers : []));
}

/** All-or-none requests whose records had different outcomes, at the provider or in the ledger. */
function torn(
  accepted: readonly Accepted[],
  states: ReadonlyMap<string, readonly RecordState[]>,
  done: (marker: string) => boolean,
): string[] {
  return accepted.flatMap(({ operationId, allOrNone, markers }) => {
    if (!allOrNone) return [];
    const kinds = new Set(
      markers.map((marker) => states.get(marker)?.find((state) => state.operationId === operationId)?.kind),
    );
    const fates = new Set(markers.map(done));
    return kinds.size === 1 && fates.size === 1 ? [] : markers.slice(0, 1);
  });
}

/** Changes of a field that held something already and was to be written only where it is empty. */
function overwritten(effects: readonly Effect[]): string[] {
  const filled = new Set<string>();
  return effects.flatMap(({ marker, kind, id, filled: fills }) => {
    if (kind !== 'update' || !fills) return [];
    if (filled.has(id)) return [marker];
    filled.add(id);
    return [];
  });
}

/** The numbers of the changes of a record, each with its operation, in the order of their effects. */
function changesOf(id: string, accepted: readonly Accepted[], effects: readonly Effect[]): string {
  const requests = new Map(
    accepted.filter(({ target }) => target?.id === id).map((one) => [one.markers[0], one]),
  );
  const changes = effects.flatMap(({ marker }) => requests.get(marker) ?? []);
  return changes
    .slice(-40)
    .map(({ target, route, operationId }) => `${target?.order} (${route} ${operationId.slice(0, 18)})`)
    .join(', ');
}

function countsOf(reasons: readonly string[]): string {
  const counts = Map.groupBy(reasons, (reason) => reason);
  return [...counts].map(([reason, { length }]) => `${length} × ${reason}`).join(', ') || 'nothing';
}

/** One line of the report. */
export function describeMarker(marker: string, { accepted, records, effects }: Evidence): string {
  const request = accepted.find(({ markers }) => markers.includes(marker));
  const states = records.filter((state) => state.marker === marker);
  const done = effects.filter((effect) => effect.marker === marker).map(({ kind, id }) => `${kind} ${id}`);
  const said = states.map(({ operationId, status, kind, message }) =>
    [operationId, status, kind, message].filter(Boolean).join(' '),
  );
  const asked = request
    ? [
        request.route,
        request.kind,
        request.object,
        request.claim,
        request.refusal,
        JSON.stringify(request.target),
        request.hasKey ? 'with a key' : 'without a key',
        request.target && `changes of it as they came: ${changesOf(request.target.id, accepted, effects)}`,
        `before: ${countsOf(request.before)}`,
      ]
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
    if (kind === 'delete' || !request?.target) continue;
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
