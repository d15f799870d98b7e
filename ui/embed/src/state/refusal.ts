/** Why a sign-in ended without a connection, as far as is known. What the provider said is not passed on: anybody can put it into an address. */
export type Refusal = 'denied' | 'failed' | 'unsure' | 'otherAccount';

/** By the reason that svc gives. */
export function reasonOf(told: unknown): Refusal {
  return told === 'denied' || told === 'otherAccount' || told === 'unsure' ? told : 'failed';
}

/** A sign-in that this tab left its page for, as it is kept until the page is back. */
export interface Left {
  whose: string;
  provider: string;
  /** Comes back in the address. */
  mark: string;
  /** The connections as they were, by id. */
  known?: readonly string[];
  /** The page's own parameters in whose place svc puts what it tells. */
  own?: readonly (readonly [name: string, value: string])[];
}

/** One that nobody guesses, and no two have. */
export function newMark(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(36)).join('');
}

export const markName = 'svcConnect';

const added = [markName, 'connectionId', 'error', 'errorReason'];

/** The parameters of an address that svc would overwrite. */
export function ownIn(address: string): NonNullable<Left['own']> {
  return [...new URL(address).searchParams].filter(([name]) => added.includes(name));
}

/** The address to come back to, in which these names are svc's alone. */
export function markedUrl(returnUrl: string, mark: string): string {
  const url = new URL(cleaned(returnUrl));
  url.searchParams.set(markName, mark);
  return url.toString();
}

/** How the sign-in ended that was left for, as an address tells it; undefined where it is of no such sign-in. */
export function returnedIn(
  address: string,
  left: Left | undefined,
  asked: Pick<Left, 'whose' | 'provider'>,
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

/** The address without what svc put into it, and with what stood there before. */
export function cleaned(address: string, own: Left['own'] = []): string {
  const url = new URL(address);
  for (const name of added) url.searchParams.delete(name);
  for (const [name, value] of own) url.searchParams.append(name, value);
  return url.toString();
}
