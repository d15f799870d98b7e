import { headerOf, type HttpAnswer, type TransportFault } from '../kit/http/client.ts';
import type { ProviderAnswerSummary } from '../kit/problem.ts';
import { storable } from '../kit/storable.ts';

/** What kind of failure a write, a read or a call ended with (docs/contract.md, Failures). */
export type FailureCategory =
  | 'validation'
  | 'permission'
  | 'auth'
  | 'notFound'
  | 'conflict'
  | 'rateLimit'
  | 'providerDown'
  | 'unknownOutcome'
  | 'internal';

/** A failure at the provider, classified once; the same object appears in replies, operations, logs and notifications. */
export interface Failure {
  category: FailureCategory;
  /** Whether the same request may be sent again; of unknown outcome only what leaves the same state when repeated (update, delete by id). */
  retryable: boolean;
  /** One sentence for the caller. */
  message: string;
  provider?: ProviderAnswerSummary;
  /** Of a conflict: the record that stands there, where the provider names it. Of an unknown outcome: the record that may be ours. */
  existingRecordId?: string;
  /** The provider's own wish, in milliseconds from now. */
  retryAfterMs?: number;
  /** Code of the account refused it (a rule, a trigger, a flow), which may go by records that the connection does not see. */
  byAccount?: true;
  /** The provider was waited for as long as a call may take. */
  timedOut?: true;
  /** The stored credentials cannot be opened, so that nothing was sent. */
  unreadable?: true;
  /** The builder's OAuth client was refused, so that nothing was sent: it is corrected in the provider app. */
  appInvalid?: true;
  /** The connection or the installation was removed, so that nothing was sent, nor ever will be. */
  gone?: true;
  /** The address was refused here, so that nothing was sent: the operator can allow it. */
  refusedHere?: true;
  /** Its node ended before anything was sent, and nobody will send it. */
  abandoned?: true;
  /** Nothing was sent, and the caller was told to send it again: nobody else does, who would write it a second time. */
  leftToCaller?: true;
  /** The outcome is unknown for now: the provider is asked for the record before anything is sent again. */
  pending?: true;
  /** Nothing is sent for `retryAfterMs`, until the earlier call can no longer take effect. A record that is missing then was never written. */
  quiet?: true;
  /** Of an upsert: a record stood in the way, and it is sent a second time. */
  clashed?: true;
  /** Of an upsert of unknown outcome: its repetition was refused for good, or is impossible, so that none follows. */
  refused?: true;
  /** The answer of an attempt was lost, and the record was looked for by this unique field. */
  lookedUpBy?: string;
}

/** What a code or a status says of a failure. */
export type Judgement = Pick<Failure, 'category' | 'retryable' | 'retryAfterMs' | 'byAccount'>;

/** The same request fails again. */
export const final = (category: FailureCategory): Judgement => ({ category, retryable: false });

/** It may succeed another time. */
export const later = (category: FailureCategory, ms?: number): Judgement =>
  ms === undefined ? { category, retryable: true } : { category, retryable: true, retryAfterMs: ms };

/** The failure of a call that was not made because its lease was over. */
export const withheld: Failure = {
  category: 'internal',
  retryable: true,
  message: 'the lease ended before the call was sent',
};

/** A transport fault as the outcome of a call that may change something: known only if no byte left. `repeatable`: an update or delete by id. */
export function failureOfTransport(
  fault: TransportFault,
  repeatable = false,
): { failure: Failure; applied: 'no' | 'unknown' } {
  const lost = fault.sent;
  if (fault.kind === 'withheld') return { applied: 'no', failure: withheld };
  return {
    applied: lost ? 'unknown' : 'no',
    failure: {
      category: lost ? 'unknownOutcome' : fault.kind === 'refused' ? 'permission' : 'providerDown',
      retryable: lost ? repeatable : fault.kind !== 'refused',
      ...(fault.kind === 'timeout' ? { timedOut: true } : {}),
      ...(fault.kind === 'refused' ? { refusedHere: true } : {}),
      message: lost
        ? `the request was sent, but its answer was lost: ${fault.message}`
        : `the provider could not be reached: ${fault.message}`,
    },
  };
}

/** A transport fault of a call that changes nothing: it may be made again. */
export function failureOfRead(fault: TransportFault): Failure {
  const refused = fault.kind === 'refused';
  return {
    category: refused ? 'permission' : 'providerDown',
    retryable: !refused,
    ...(refused ? { refusedHere: true } : {}),
    message: `the provider could not be read: ${fault.message}`,
  };
}

/** The failure of a write whose answer leaves open whether it was done. */
export function unknownOutcome(why: string, repeatable: boolean, provider?: ProviderAnswerSummary): Failure {
  return {
    category: 'unknownOutcome',
    retryable: repeatable,
    message: `it is not known whether the record was written: ${why}`,
    ...(provider ? { provider } : {}),
  };
}

/** An answer that leads elsewhere: no redirect is followed, for it would take the credentials along. */
export function redirected(name: string, answer: HttpAnswer): Failure {
  const { status } = answer;
  const to = originOf(headerOf(answer, 'location'));
  const where = to === undefined ? 'elsewhere' : `to ${to}`;
  const message = `${name} answered ${status}, a redirect ${where}, which is not followed: the address of the connection may be wrong`;
  return { category: 'providerDown', retryable: false, message, provider: { status } };
}

/** The rest of an address may hold secrets. */
function originOf(location: string | undefined): string | undefined {
  return location !== undefined && URL.canParse(location) ? new URL(location).origin : undefined;
}

export function isRedirect({ status }: HttpAnswer): boolean {
  return status >= 300 && status < 400;
}

/** A call that we refuse to make because of what it names. */
export function invalidCall(message: string): Failure {
  return { category: 'validation', retryable: false, message };
}

const secrets: [RegExp, string][] = [
  [/\b(bearer|basic|token)\s+[\w~+/.!-]{12,}=*/gi, '$1 [removed]'],
  [
    /\b((?:access|refresh|id|api|client|private)?[_-]?(?:token|secret|password|key))(["']?\s*[=:]\s*["']?)[^\s"'&,;}\]]{8,}/gi,
    '$1$2[removed]',
  ],
  // Salesforce session ids and HubSpot private app tokens have a shape of their own.
  [/\b00D\w{12,15}![\w.]+/g, '[removed]'],
  [/\bpat-[a-z]{2}\d-[\w-]+/g, '[removed]'],
];
const longestMessage = 1_000;

/** A provider's text without what looks like a credential, at most 1,000 characters. */
export function withoutSecrets(text: string): string {
  const clean = secrets.reduce((rest, [pattern, shown]) => rest.replace(pattern, shown), storable(text));
  return clean.length > longestMessage ? `${wholeUntil(clean, longestMessage - 1)}…` : clean;
}

/** The first so many characters, without half of the last. */
function wholeUntil(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** A day is the longest window that a provider counts by; who asks for more is believed for a day. */
export const longestWaitMs = 24 * 3_600_000;

/** The form of a date without its zone, which is GMT (RFC 9110, 5.6.7). */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** The delay that a `Retry-After` header asks for, in milliseconds: seconds, of which some send a part, or an HTTP date (RFC 9110, 10.2.3). */
export function retryAfterMs(header: string | undefined, now = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, longestWaitMs);
  const at = httpDateOf(text);
  return at === undefined ? undefined : Math.min(Math.max(0, at - now), longestWaitMs);
}

/** A date of HTTP (RFC 9110, 5.6.7) in milliseconds; undefined for what is none. */
export function httpDateOf(header: string | undefined): number | undefined {
  const text = header?.trim() ?? '';
  // Date.parse takes other forms, too, such as `1-2`.
  if (!/^[A-Z][a-z]{2,8}, /.test(text) && !asctime.test(text)) return undefined;
  const at = Date.parse(asctime.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : at;
}
