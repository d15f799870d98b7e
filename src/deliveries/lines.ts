/** Where each delivery takes a connection for itself: a quick destination is sent to over few of them, one message after the other. */
export interface Lines {
  /** Waits for a free line to the destination, a second at the most, and less once the signal is aborted. */
  enter(id: string, signal: AbortSignal): Promise<Line>;
}

export interface Line {
  /** It is free for the next one; what was sent over it took so long. */
  leave(tookMs: number): void;
}

/** As many at once as make this many a second, by the quickest of its latest answers. */
const perSecond = 200;
/** And no more than their part of this many to all; a node makes as many calls at once. */
const toAll = 600;
const width = { least: 4, most: 20 };
/** A line that is held for longer says nothing of the others. */
const patienceMs = 1_000;
/** The quickest answer counts for less with each one after it. */
const fading = 1.1;
const remembered = 10_000;

interface Destination {
  inUse: number;
  /** Of the answers of late. */
  quickestMs: number;
  /** Each takes a line over from who leaves it. */
  waiting: Set<() => void>;
}

export function createLines(): Lines {
  const known = new Map<string, Destination>();
  let busy = 0;

  function find(id: string): Destination {
    const found = known.get(id) ?? { inUse: 0, quickestMs: 0, waiting: new Set() };
    known.delete(id);
    known.set(id, found);
    const [oldest] = known.size > remembered ? known : [];
    if (oldest?.[1].inUse === 0) known.delete(oldest[0]);
    return found;
  }

  function hasRoom({ quickestMs, inUse }: Destination): boolean {
    const wanted = Math.min(Math.ceil((quickestMs * perSecond) / 1_000), toAll / Math.max(1, busy));
    return inUse < Math.min(width.most, Math.max(width.least, wanted));
  }

  function use(destination: Destination): void {
    if (destination.inUse === 0) busy += 1;
    destination.inUse += 1;
  }

  function leave(destination: Destination, tookMs: number): void {
    const { quickestMs, waiting } = destination;
    destination.quickestMs = quickestMs === 0 ? tookMs : Math.min(tookMs, quickestMs * fading);
    destination.inUse -= 1;
    if (destination.inUse === 0) busy -= 1;
    for (const take of waiting) {
      if (!hasRoom(destination)) return;
      use(destination);
      take();
    }
  }

  return {
    async enter(id, signal) {
      const destination = find(id);
      const isGiven = !hasRoom(destination) && (await givenOne(destination, signal));
      if (!isGiven) use(destination);
      return { leave: (tookMs) => leave(destination, tookMs) };
    },
  };
}

/** Whether somebody left a line in time. */
function givenOne({ waiting }: Destination, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isGiven: boolean): void => {
      waiting.delete(take);
      clearTimeout(timer);
      signal.removeEventListener('abort', give);
      resolve(isGiven);
    };
    const take = (): void => end(true);
    const give = (): void => end(false);
    const timer = setTimeout(give, patienceMs);
    waiting.add(take);
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
