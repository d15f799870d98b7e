type Close = () => Promise<void>;

const open = new Set<Close>();

/** Remembers what is open, so that a run that breaks off leaves nothing behind; what it gives back closes it once. */
export function atEnd(close: Close): Close {
  const once = async (): Promise<void> => {
    if (open.delete(once)) await close();
  };
  open.add(once);
  return once;
}

/** Closes what is still open, the newest first. */
export async function endAll(): Promise<void> {
  for (const close of [...open].toReversed()) await close().catch((error: unknown) => console.error(error));
}
