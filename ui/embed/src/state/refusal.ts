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

/** The address to come back to. */
export function markedUrl(returnUrl: string, mark: string): string {
  const url = new URL(returnUrl);
  url.searchParams.set(markName, mark);
  return url.toString();
}

/** How the sign-in ended that was left for, as an address tells it; undefined where it is of no such sign-in. */
export function returnedIn(
  address: string,
  left: Left | undefined,
  asked: Omit<Left, 'mark'>,
): 'connected' | Refusal | undefined {
  const { searchParams } = new URL(address);
  const isOurs =
    left !== undefined &&
    searchParams.get(markName) === left.mark &&
    left.whose === asked.whose &&
    left.provider === asked.provider;
  if (!isOurs) return undefined;
  return searchParams.has('connectionId') ? 'connected' : reasonOf(searchParams.get('errorReason'));
}

/** The address without what svc put into it. */
export function cleaned(address: string): string {
  const url = new URL(address);
  for (const name of [markName, 'connectionId', 'error', 'errorReason']) url.searchParams.delete(name);
  return url.toString();
}
