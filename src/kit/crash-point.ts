/** The named steps of work at which the fault tests kill a node. */
export type CrashPoint =
  | 'after-refresh'
  | 'after-rewrap'
  | 'after-slots'
  | 'after-accept'
  | 'after-claim'
  | 'after-seal'
  | 'after-mark'
  | 'after-send'
  | 'after-page'
  | 'before-record'
  | 'after-record';

// For the fault tests only: `SVC_CRASH_AT=after-mark:3` dies at the third pass.
const [crashAt, nth = '1'] = (process.env['SVC_CRASH_AT'] ?? '').split(':');
let passes = 0;

/** Kills this process at once, as a power cut would, when `SVC_CRASH_AT` names this point; otherwise does nothing. */
export function crashPoint(point: CrashPoint): void {
  if (point !== crashAt) return;
  passes += 1;
  if (passes >= Number(nth)) process.kill(process.pid, 'SIGKILL');
}
