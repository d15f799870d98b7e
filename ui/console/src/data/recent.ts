import { useEffect, useState } from 'react';

/** Whether a value was first seen less than so many milliseconds ago: by no clock but the browser's, which may differ from the server's. */
export function useRecent(value: unknown, ms: number): boolean {
  const [old, setOld] = useState<unknown>();
  useEffect(() => {
    const timer = setTimeout(() => setOld(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return old !== value;
}
