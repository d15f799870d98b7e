import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from '../src/kit/db/database.ts';

/** What the kernel counts of a process (proc(5)), from its state on; undefined when it is gone. */
function countsOf(pid: number | string): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) \w /s, '');
    return text.split(' ').map(Number);
  } catch {
    return undefined;
  }
}

/** In ticks of a hundredth of a second: of the process, and of its children that have ended. */
const own = [10, 11];
const ofEnded = [12, 13];

function sumOf(counts: readonly number[] = [], at: readonly number[]): number {
  return at.reduce((sum, one) => sum + (counts[one] ?? 0), 0) * 10;
}

/** Processor time that a process took so far, in milliseconds. Linux only. */
export function processorMs(pid: number): number {
  return sumOf(countsOf(pid), own);
}

/** The same of a process and all its children, those that have ended too. */
export function processorMsOfAll(parent: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(countsOf)
    .filter((counts) => counts?.[0] === parent);
  return children.reduce(
    (sum, counts) => sum + sumOf(counts, own),
    sumOf(countsOf(parent), [...own, ...ofEnded]),
  );
}

/** The process whose children serve the connections of a database on this machine. */
export async function postmasterOf(database: Database): Promise<number> {
  const [row] = await database.raw('SELECT pg_backend_pid() AS pid');
  const parent = countsOf(Number(row?.['pid']))?.[0];
  if (parent === undefined) throw new Error('the database does not run on this machine');
  return parent;
}

/** Resident memory of a process, in MB. Linux only. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
