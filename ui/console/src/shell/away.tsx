import { useQueryClient } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { isAway, isReady } from '../data/api.ts';
import { useStore } from '../ui/store.ts';

const askEveryMs = 2000;

/** Says that the server does not answer, asks until it does, and then reads anew what is shown. */
export function Away(): ReactNode {
  const away = useStore(isAway);
  const client = useQueryClient();
  useEffect(() => {
    if (!away) return undefined;
    const ask = async (): Promise<void> => {
      if (!(await isReady())) return;
      isAway.set(false);
      await client.invalidateQueries();
    };
    const timer = setInterval(() => void ask(), askEveryMs);
    return () => clearInterval(timer);
  }, [away, client]);
  return (
    <div role="status">
      {away && (
        <p className="away">
          <CloudOff size={16} aria-hidden />
          The server does not answer. This page goes on by itself once it does; nothing that you typed is
          lost.
        </p>
      )}
    </div>
  );
}
