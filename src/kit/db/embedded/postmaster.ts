import { readdir, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './place.ts';

/** What the server wrote down about itself in postmaster.pid. */
export interface Postmaster {
  pid: number;
  /** The socket's folder, or the loopback address on Windows. */
  host: string;
  port: number;
}

/** Reads the file, also that of a server that is gone; undefined without one, or while it is being written. */
export async function readPostmaster(place: Place): Promise<Postmaster | undefined> {
  const text = await readFile(pidFile(place), 'utf8').catch(() => '');
  // pid, data directory, start time, port, socket folder, listen address, …
  const [pid, , , port, socketFolder, listen] = text.split('\n').map((line) => line.trim());
  const host = socketFolder || listen;
  return pid && port && host ? { pid: Number(pid), port: Number(port), host } : undefined;
}

/** Whether this very server is still there. */
export async function isRunning(place: Place, pid: number): Promise<boolean> {
  return (await readPostmaster(place))?.pid === pid && (await isAlive(pid));
}

/** Sends the signal; false when there is no such process, or it is not ours to signal. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/**
 * Removes postmaster.pid when its pid now belongs to another program or a zombie (a restarted container gives out the same
 * numbers), which PostgreSQL itself cannot tell. Only where it is certain: on Linux, when no process works in the data directory.
 */
export async function removeStalePidFile(place: Place): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const before = await readFile(pidFile(place), 'utf8').catch(() => undefined);
  if (before === undefined) return false;
  const data = await realpath(place.data);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const working = await Promise.all(pids.map((pid) => mayWorkIn(pid, data, place)));
  if (working.includes(true)) return false;
  // Moved first and read again: it may have become the file of a server that was started this moment.
  const aside = `${pidFile(place)}.${process.pid}`;
  await rename(pidFile(place), aside);
  if ((await readFile(aside, 'utf8')) !== before) {
    await rename(aside, pidFile(place));
    return false;
  }
  await rm(aside);
  return true;
}

/** A server works in its data directory from before it writes the file until its end. */
async function mayWorkIn(pid: number, data: string, place: Place): Promise<boolean> {
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === data;
  } catch {
    // Gone, a zombie, or not ours to see; of the server's own user it counts as one that may.
    const owner = await stat(`/proc/${pid}`).catch(() => undefined);
    return owner !== undefined && owner.uid === (place.account?.uid ?? process.getuid?.()) && isAlive(pid);
  }
}

/** Whether there is such a process, and it is more than a zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  if (!signal(pid, 0)) return false;
  // A zombie keeps its pid until it is reaped.
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) [ZX] /.test(status);
}

function pidFile(place: Place): string {
  return join(place.data, 'postmaster.pid');
}
