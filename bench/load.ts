import { Pool } from 'undici';

export interface LoadTarget {
  origin: string;
  /** A function gives each request its own. */
  path: string | (() => string);
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** 200 unless told. */
  expect?: number;
  /** Also the refusal of more of them (429). */
  maySlowDown?: true;
}

export interface LoadResult {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** As many requests as go through in the time, each caller sending its next when the last was answered. Throws at the first that has another status than expected. */
export async function closedLoad(target: LoadTarget, callers: number, seconds: number): Promise<LoadResult> {
  const pool = new Pool(target.origin, { connections: callers, pipelining: 1 });
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endAt) latencies.push(await timed(pool, target));
    }),
  );
  const took = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { perSecond: latencies.length / took, ...percentiles(latencies) };
}

/** Requests at a steady rate whatever the answers do; the latency counts from the moment a request was due. */
export async function openLoad(target: LoadTarget, perSecond: number, seconds: number): Promise<LoadResult> {
  const pool = new Pool(target.origin, { connections: 64, pipelining: 1 });
  const latencies: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  const total = Math.floor(perSecond * seconds);
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1000) * perSecond));
    for (; sent < due; sent += 1) {
      const dueAt = startedAt + (sent / perSecond) * 1000;
      pending.push(timed(pool, target).then(() => void latencies.push(performance.now() - dueAt)));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  await pool.close();
  return { perSecond, ...percentiles(latencies) };
}

/** Milliseconds of one request. Throws when it has another status than expected. */
export async function timed(pool: Pool, target: LoadTarget): Promise<number> {
  const since = performance.now();
  const path = typeof target.path === 'string' ? target.path : target.path();
  const { statusCode, body } = await pool.request({
    path,
    method: target.method,
    ...(target.headers ? { headers: target.headers } : {}),
    ...(target.body === undefined ? {} : { body: target.body }),
  });
  const isExpected = statusCode === (target.expect ?? 200) || (target.maySlowDown && statusCode === 429);
  if (isExpected) await body.dump({ limit: 1e9 });
  else throw new Error(`${target.method} ${path} answered ${statusCode}: ${await body.text()}`);
  return performance.now() - since;
}

export function percentiles(values: number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
