import { readFileSync } from 'node:fs';

/** Processor time that a process took so far, in milliseconds. Linux only. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  // utime and stime, in ticks of a hundredth of a second (proc(5)).
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, in MB. Linux only. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
