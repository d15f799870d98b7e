import { Problem, problem } from '../problem.ts';
import { sleep } from '../retry.ts';
import { isDatabaseAway, isUnsaid, originOf } from './faults.ts';

/**
 * Repeats work whose answer was lost, or that the database could not do now, until `endsAt` (monotonic); so the work must be one
 * that may be repeated. `isPassing`: the errors after which it is.
 */
export async function repeatWhileAway<T>(
  endsAt: number,
  work: () => Promise<T>,
  isPassing: (error: unknown) => boolean = isDatabaseAway,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || performance.now() > endsAt) throw error;
      await pauseBriefly();
    }
  }
}

/** Until the database may be there again, and a statement that was still on its way has ended. */
export function pauseBriefly(): Promise<void> {
  return sleep(100 + Math.random() * 200);
}

/**
 * Work that stores nothing of what was asked, such as opening a lane: where it is open whether it was done, nothing was accepted all the
 * same, and the caller is told so.
 */
export async function acceptingNothing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem && isUnsaid(error))) throw error;
    throw problem('database-unavailable', { cause: originOf(error) });
  }
}
