/** Follows whether the database answers and takes changes, for those who are to be told when that changes. */
export interface OutageWatch {
  /** The outage under way; taken before a statement is sent. */
  now(): Outage | undefined;
  /** A statement could not be made. */
  failed(error: unknown, what: OutageKind): void;
  /** A statement was answered that was sent in this outage. What was sent before it says nothing. */
  answered(outage: Outage | undefined): void;
  /** For how long it has not answered, or has taken no changes; 0 while it does. */
  lastsMs(): number;
  /** Why the database takes no changes now; undefined while it does. */
  refusal(): unknown;
  close(): void;
}

/** `silent`: nothing is answered. `refusing`: what is asked is answered, and changes are refused, as with a full disk. */
export type OutageKind = 'silent' | 'refusing';

interface Outage {
  kind: OutageKind;
  error: unknown;
  startedAt: number;
  /** When a change was refused last. */
  refusedAt: number;
}

export interface OutageHooks {
  onAway?: (error: unknown, what: OutageKind) => void;
  onBack?: (afterMs: number) => void;
}

interface Surroundings {
  /** Tries a change that needs new room. Rejects while changes are refused. */
  tryChange: () => Promise<void>;
  clock?: () => number;
  pauseMs?: number;
}

/** On a full disk some changes pass, where a page has room: for so long none may have been refused. */
const quietMs = 3_000;

/** An answer ends silence. What ends a refusal is only a change that passes; it is tried here, since nobody else may try any more. */
export function watchOutage(
  { onAway, onBack }: OutageHooks,
  { tryChange, clock = () => performance.now(), pauseMs = 1_000 }: Surroundings,
): OutageWatch {
  let current: Outage | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (outage: Outage): void => {
    if (outage !== current) return;
    current = undefined;
    onBack?.(clock() - outage.startedAt);
  };
  const tryLater = (outage: Outage): void => {
    if (outage !== current) return;
    timer = setTimeout(() => {
      tryChange().then(
        () => (clock() - outage.refusedAt >= quietMs ? end(outage) : tryLater(outage)),
        () => tryLater(outage),
      );
    }, pauseMs);
    timer.unref();
  };
  const begin = (error: unknown, kind: OutageKind): void => {
    const outage: Outage = { kind, error, startedAt: clock(), refusedAt: clock() };
    current = outage;
    onAway?.(error, kind);
    if (kind === 'refusing') tryLater(outage);
  };
  return {
    now: () => current,
    failed(error, kind) {
      if (current?.kind === 'refusing') {
        if (kind === 'refusing') current.refusedAt = clock();
        return;
      }
      // A refusal is an answer.
      if (current && kind === 'refusing') end(current);
      if (!current) begin(error, kind);
    },
    answered(outage) {
      if (outage?.kind === 'silent') end(outage);
    },
    lastsMs: () => (current ? clock() - current.startedAt : 0),
    refusal: () => (current?.kind === 'refusing' ? current.error : undefined),
    close() {
      clearTimeout(timer);
      current = undefined;
    },
  };
}
