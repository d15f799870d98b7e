import { useEffect, useState } from 'react';
import type { SvcError } from '@svc/client';
import { useSvc, useWhose } from '../hooks/provider.tsx';
import {
  cleaned,
  markedUrl,
  markName,
  newMark,
  ownIn,
  returnedIn,
  type Left,
  type Refusal,
} from '../state/refusal.ts';
import { useRenewal } from './use-renewal.ts';

const key = 'svc-connect-left';

/** Remembers in this tab that it leaves for a provider, and answers where the provider sends it back to. */
export function leaveFor(returnUrl: string, whose: string, provider: string, known: string[]): string {
  const mark = newMark();
  const leaving: Left = { whose, provider, mark, known, own: ownIn(returnUrl) };
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

/** How a sign-in that this tab left for ended, where it did not end well. */
export interface Returned {
  refusal?: Refusal;
  error?: SvcError | undefined;
}

/** Takes what a sign-in that this tab left for brought back. Looks once the page is there: a server has no address. */
export function useReturned(
  provider: string | undefined,
  onConnected?: (connectionId: string) => void,
): Returned {
  const whose = useWhose();
  const { svc, groupRef } = useSvc();
  const [refusal, setRefusal] = useState<Refusal>();
  const [address, setAddress] = useState<string>();
  const [settle, { error }] = useRenewal();
  // At once: the page around may change it before the provider is known.
  useEffect(() => setAddress(location.href), []);
  useEffect(() => {
    if (provider === undefined || address === undefined) return;
    const left = remembered();
    const returned = returnedIn(address, left, { whose, provider });
    if (!returned) return;
    sessionStorage.removeItem(key);
    if (location.search.includes(markName))
      history.replaceState(history.state, '', cleaned(location.href, left?.own));
    if (returned !== 'connected') return setRefusal(returned);
    const id = new URL(address).searchParams.get('connectionId');
    if (id !== null) onConnected?.(id);
    const settled = async (): Promise<void> => {
      for await (const connection of svc.connections.list({ groupRef, provider }))
        if (connection.id === id) await settle({ connection, isNew: left?.known?.includes(id) === false });
    };
    // What cannot be asked for is told by what shows it.
    settled().catch(() => undefined);
  }, [whose, provider, address]);
  return { ...(refusal ? { refusal } : {}), error };
}
