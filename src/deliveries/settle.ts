import type { End, Heard, Marked, Ran } from '../lanes/index.ts';
import type { Delivered } from './kind.ts';
import { isFailingTooLong, waitAfter } from './next-attempt.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'canceled';

/** One attempt, as its delivery keeps it. */
export interface AttemptEntry {
  /** When it began. */
  time: string;
  status?: number;
  latencyMs: number;
  /** The beginning of what was answered. */
  answer?: string;
  error?: string;
}

/** What is recorded of an attempt. */
export interface DeliveryOutcome {
  status: DeliveryStatus;
  httpStatus: number | undefined;
  error: string | undefined;
  entry: AttemptEntry | undefined;
}

/** Why a destination is to be disabled. */
export interface Disabling {
  reason: string;
  /** That nothing succeeded for so long must still be so. Otherwise the other side asked for it. */
  failing: boolean;
  /** When the destination that was called had been changed last: what one of before answered says nothing of it. */
  changedAt: Date;
}

export interface DeliveryEnd extends End {
  messageId: string;
  destinationId: string;
  /** Undefined: nothing was tried, and its delivery stays as it is. */
  outcome: DeliveryOutcome | undefined;
  disable: Disabling | undefined;
  /** When it was delivered everywhere, its content goes with this. */
  empties?: boolean;
  /** Whose message it is, where that is known. */
  groupRef?: string | undefined;
}

/** When an attempt began and how long it took. */
export interface Timing {
  startedAt: Date;
  latencyMs: number;
}

/** Of the destination that was called: for how long nothing succeeded there, and when it had been changed last. */
export interface Called {
  failingForMs: number;
  changedAt: Date;
}

/** What becomes of a delivery after an attempt. */
export function settle(
  item: Marked,
  delivered: Delivered,
  { startedAt, latencyMs }: Timing,
  called: Called,
): Ran<DeliveryEnd> {
  if (delivered.kind === 'unsent') return { end: postponed(item, 0) };
  const { status, answer } = delivered;
  const said = {
    time: startedAt.toISOString(),
    latencyMs: Math.round(latencyMs),
    ...(status === undefined ? {} : { status }),
    ...(answer === undefined || answer === '' ? {} : { answer }),
  };
  if (delivered.kind === 'delivered') {
    const outcome = { status: 'delivered', httpStatus: status, error: undefined, entry: said } as const;
    return { end: { ...baseOf(item), done: true, waitMs: 0, spent: true, outcome }, heard: 'answer' };
  }
  const { error, retryAfterMs = 0, final, silent } = delivered;
  const wait = final ? undefined : waitAfter(item.attempt);
  const waitMs = Math.max(wait ?? 0, retryAfterMs);
  return {
    end: {
      ...baseOf(item),
      done: wait === undefined,
      waitMs,
      spent: true,
      outcome: {
        status: wait === undefined ? 'failed' : 'pending',
        httpStatus: status,
        error,
        entry: { ...said, error },
      },
      disable: disabling(delivered.disable, called),
    },
    heard: heardOf(status, silent),
    ...(isBusy(status) && retryAfterMs > 0 ? { laneWaitsMs: retryAfterMs } : {}),
  };
}

function disabling(asked: string | undefined, { failingForMs, changedAt }: Called): Disabling | undefined {
  if (asked !== undefined) return { reason: asked, failing: false, changedAt };
  return isFailingTooLong(failingForMs)
    ? { reason: 'Nothing succeeded for five days.', failing: true, changedAt }
    : undefined;
}

/** Those by which destinations are to be disabled: of each destination the end of the newest state that was called, since older ones count no more. */
export function disablingEnds(ends: readonly DeliveryEnd[]): DeliveryEnd[] {
  const newest = new Map<string, { end: DeliveryEnd; changedAt: Date }>();
  for (const end of ends) {
    const before = newest.get(end.destinationId);
    if (end.disable && (!before || before.changedAt <= end.disable.changedAt))
      newest.set(end.destinationId, { end, changedAt: end.disable.changedAt });
  }
  return [...newest.values()].map(({ end }) => end);
}

/** It is not sent any more. */
export function canceled(item: Marked, why: string): Ran<DeliveryEnd> {
  const outcome = {
    status: 'canceled',
    httpStatus: undefined,
    error: why,
    entry: undefined,
  } as const;
  return { end: { ...baseOf(item), done: true, waitMs: 0, spent: false, outcome } };
}

/** Its message is no longer kept. */
export function forgotten(item: Marked): Ran<DeliveryEnd> {
  return { end: { ...baseOf(item), done: true, waitMs: 0, spent: false } };
}

/** An attempt that did not begin. */
export function postponed(item: Marked, waitMs: number): DeliveryEnd {
  return { ...baseOf(item), done: false, waitMs, spent: false };
}

function baseOf({ projectId, seq, lease, mark, ref, laneId }: Marked) {
  return {
    projectId,
    seq,
    lease,
    mark,
    messageId: ref,
    destinationId: laneId,
    outcome: undefined,
    disable: undefined,
  };
}

/** What is refused before it leaves says nothing of the other side. */
function heardOf(status: number | undefined, silent: boolean | undefined): Heard | undefined {
  if (silent) return 'silence';
  return status === undefined ? undefined : 'answer';
}

/** The wait is for all that goes there, not for this message alone. */
function isBusy(status: number | undefined): boolean {
  return status === 429 || status === 503;
}
