/** Why a sign-in ended without a connection. What the provider said is not passed on: anybody can put it into an address. */
export type Refusal = 'denied' | 'failed';

/** By the reason that svc gives. */
export function reasonOf(told: unknown): Refusal {
  return told === 'denied' ? 'denied' : 'failed';
}

/** A sign-in that this tab left its page for, as it is kept until the page is back. */
export interface Left {
  whose: string;
  provider: string;
  /** Comes back in the address. */
  mark: string;
}

/** One that nobody guesses, and no two have. */
export function newMark(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(36)).join('');
}

export const markName = 'svcConnect';
const outcome = ['connectionId', 'error', 'errorReason'] as const;

/** The address to come back to. */
export function markedUrl(returnUrl: string, mark: string): string {
  const url = new URL(returnUrl);
  url.searchParams.set(markName, mark);
  return url.toString();
}

export interface Returned {
  /** Undefined when it is connected. */
  refusal: Refusal | undefined;
  /** The address without what svc put into it. */
  url: string;
}

/** What an address brings back of a sign-in that was left for; undefined where it is of no such sign-in. */
export function returnedIn(
  address: string,
  left: Left | undefined,
  asked: Omit<Left, 'mark'>,
): Returned | undefined {
  const url = new URL(address);
  const isOurs =
    left !== undefined &&
    url.searchParams.get(markName) === left.mark &&
    left.whose === asked.whose &&
    left.provider === asked.provider &&
    outcome.some((name) => url.searchParams.has(name));
  if (!isOurs) return undefined;
  const refusal = url.searchParams.has('connectionId')
    ? undefined
    : reasonOf(url.searchParams.get('errorReason'));
  for (const name of [markName, ...outcome]) url.searchParams.delete(name);
  return { refusal, url: url.toString() };
}
