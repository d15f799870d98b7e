import { useEffect, useState } from 'react';
import { useWhose } from '../hooks/provider.tsx';
import {
  cleaned,
  markedUrl,
  markName,
  newMark,
  returnedIn,
  type Left,
  type Refusal,
} from '../state/refusal.ts';

const key = 'svc-connect-left';

/** Remembers in this tab that it leaves for a provider, and answers where the provider sends it back to. */
export function leaveFor(returnUrl: string, whose: string, provider: string): string {
  const mark = newMark();
  const leaving: Left = { whose, provider, mark };
  try {
    sessionStorage.setItem(key, JSON.stringify(leaving));
  } catch {
    // Without a storage the page comes back without a word; what was connected is there.
    return returnUrl;
  }
  return markedUrl(returnUrl, mark);
}

function remembered(): Left | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Why the sign-in that this tab left for was refused. Looks once the page is there: a server has no address. */
export function useReturned(provider: string | undefined): Refusal | undefined {
  const whose = useWhose();
  const [refusal, setRefusal] = useState<Refusal>();
  const [address, setAddress] = useState<string>();
  // At once: the page around may change it before the provider is known.
  useEffect(() => setAddress(location.href), []);
  useEffect(() => {
    if (provider === undefined || address === undefined) return;
    const returned = returnedIn(address, remembered(), { whose, provider });
    if (!returned) return;
    sessionStorage.removeItem(key);
    if (location.search.includes(markName)) history.replaceState(history.state, '', cleaned(location.href));
    if (returned !== 'connected') setRefusal(returned);
  }, [whose, provider, address]);
  return refusal;
}
