import type { End } from '../../lanes/index.ts';

/** `queueing`: messages are still looked for. */
export type ReplayState = 'queueing' | 'queued' | 'canceled';

/** What one step changes. */
export interface Step {
  /** Undefined: it did not move. */
  place: string | undefined;
  status: ReplayState;
  reason?: string | undefined;
  /** To be sent. */
  messages: readonly string[];
}

export interface ReplayEnd extends End {
  replayId: string;
  destinationId: string;
  /** Undefined: nothing changes but the work. */
  step: Step | undefined;
}
