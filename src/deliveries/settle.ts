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

export interface DeliveryEnd extends End {
  messageId: string;
  destinationId: string;
  /** Undefined: nothing was tried, and its delivery stays as it is. */
  outcome: DeliveryOutcome | undefined;
  /** The destination is to be disabled for this reason; unless `failing`, which must still be so, the other side asked for it. */
  disable: { reason: string; failing: boolean } | undefined;
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

/** What becomes of a delivery after an attempt, at a destination where nothing succeeded for so long. */
export function settle(
  item: Marked,
  delivered: Delivered,
  { startedAt, latencyMs }: Timing,
  failingForMs: number,
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
      disable: disabling(delivered.disable, failingForMs),
    },
    heard: heardOf(status, silent),
    ...(isBusy(status) && retryAfterMs > 0 ? { laneWaitsMs: retryAfterMs } : {}),
  };
}

function disabling(asked: string | undefined, failingForMs: number): DeliveryEnd['disable'] {
  if (asked !== undefined) return { reason: asked, failing: false };
  return isFailingTooLong(failingForMs)
    ? { reason: 'Nothing succeeded for five days.', failing: true }
    : undefined;
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

function baseOf({ projectId, seq, lease, ref, laneId }: Marked) {
  return {
    projectId,
    seq,
    lease,
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
