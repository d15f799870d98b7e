/** What a stream tells: the data of an event `change`, that something may have been missed, or that it broke off. */
export type Heard = { change: string } | 'resync' | 'broken';

const connectAgainMs = 15_000;

/**
 * Follows a stream of server-sent events until the answer is called. By HTTP/1.1 a browser opens six connections to one server, so all of its
 * pages share one stream: the page that holds the lock has it, and tells the others. Where the browser knows no locks (without HTTPS),
 * each page has its own.
 */
export function follow(url: string, hear: (heard: Heard) => void): () => void {
  const stopped = new AbortController();
  const { locks } = navigator as { locks?: LockManager };
  if (locks) void shareStream(locks, url, hear, stopped.signal);
  else void connect(url, hear, stopped.signal);
  return () => stopped.abort();
}

async function shareStream(
  locks: LockManager,
  url: string,
  hear: (heard: Heard) => void,
  signal: AbortSignal,
): Promise<void> {
  const channel = new BroadcastChannel(url);
  channel.addEventListener('message', ({ data }: MessageEvent<Heard>) => hear(data));
  const tell = (heard: Heard): void => {
    hear(heard);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no origin
    channel.postMessage(heard);
  };
  const wasFree = await locks.request(url, { ifAvailable: true }, async (lock) => {
    if (lock) await connect(url, tell, signal);
    return lock !== null;
  });
  if (!wasFree && !signal.aborted) {
    await locks
      .request(url, { signal }, () => connect(url, tell, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }
  channel.close();
}

/** Holds the stream open; resolves when it is to end. */
function connect(url: string, hear: (heard: Heard) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    let source: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const open = (): void => {
      source = new EventSource(url);
      let goesOn = false;
      source.addEventListener('open', () => {
        // It tells what happens from now on; what was read while it was opened may be older.
        if (!goesOn) hear('resync');
      });
      source.addEventListener('change', ({ data }: MessageEvent<string>) => {
        // From here the browser asks for what followed when it connects again.
        goesOn = true;
        hear({ change: data });
      });
      source.addEventListener('resync', () => hear('resync'));
      source.addEventListener('error', () => {
        // Refused; when it only broke off, the browser connects again by itself.
        if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, connectAgainMs);
        hear('broken');
      });
    };
    signal.addEventListener('abort', () => {
      clearTimeout(again);
      source?.close();
      resolve();
    });
    open();
  });
}
