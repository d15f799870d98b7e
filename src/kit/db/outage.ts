/** Follows whether the database answers, for those who are to be told when that changes. */
export interface OutageWatch {
  /** The outage under way; taken before a statement is sent. */
  now(): Outage | undefined;
  /** A statement could not be made. */
  failed(error: unknown): void;
  /** A statement was answered that was sent in this outage. What was sent before it says nothing. */
  answered(outage: Outage | undefined): void;
}

interface Outage {
  startedAt: number;
}

export interface OutageHooks {
  onAway?: (error: unknown) => void;
  onBack?: (afterMs: number) => void;
}

export function watchOutage({ onAway, onBack }: OutageHooks, clock = () => performance.now()): OutageWatch {
  let current: Outage | undefined;
  return {
    now: () => current,
    failed(error) {
      if (current) return;
      current = { startedAt: clock() };
      onAway?.(error);
    },
    answered(outage) {
      if (!outage || outage !== current) return;
      current = undefined;
      onBack?.(clock() - outage.startedAt);
    },
  };
}
