import { useRef } from 'react';

/** Whether it ever was so. */
export function useOnce(is: boolean): boolean {
  const was = useRef(false);
  was.current ||= is;
  return was.current;
}
