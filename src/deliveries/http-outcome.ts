import { headerOf, type HttpAnswer, type TransportFault } from '../kit/http/client.ts';
import { retryAfterMs } from '../providers/index.ts';
import type { Delivered } from './kind.ts';

type Failed = Extract<Delivered, { kind: 'failed' }>;

/** What a kind that posts over HTTP says of the other side. */
interface OtherSide {
  /** Such as `The receiver`. */
  who: string;
  timeoutMs: number;
  /** What to do about one that is slow. */
  slow: string;
}

/** The outcome of a call without an answer. */
export function unanswered({ kind, sent, message }: TransportFault, side: OtherSide): Delivered {
  const { who, timeoutMs, slow } = side;
  // What was cut off here says nothing of the other side: it is sent again.
  if (kind === 'withheld' || kind === 'aborted') return { kind: 'unsent' };
  if (kind === 'refused')
    return { kind: 'failed', error: `The message could not be posted (egress-refused): ${message}.` };
  if (kind === 'timeout') {
    const error = sent
      ? `${who} did not answer within ${timeoutMs / 1_000} s. ${slow}`
      : `There was no connection to ${who.replace(/^The/, 'the')} within ${timeoutMs / 1_000} s.`;
    return { kind: 'failed', silent: true, error };
  }
  return {
    kind: 'failed',
    error: `The message could not be posted: ${message}.`,
    ...(kind === 'connect' ? { silent: true } : {}),
  };
}

/** An answer that is no success; `error` is the sentence for the builder. */
export function refusedBy(answer: HttpAnswer, error: string): Failed {
  const { status, body } = answer;
  const waits = retryAfterMs(headerOf(answer, 'retry-after'));
  return {
    kind: 'failed',
    status,
    answer: body,
    error,
    ...(waits === undefined ? {} : { retryAfterMs: waits }),
  };
}
