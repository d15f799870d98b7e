import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import type { Closure, Quota } from '../../connections/index.ts';

/** The two headers of throttle mode (§7.5). */
export function throttleHeaders({ until, lockedOut }: Closure): string[] {
  return ['X-Svc-Retry-After', retryTime(until), 'X-Svc-Retryable', String(!lockedOut)];
}

/** `Fri, 20 Nov 2026 14:00:00 UTC`, never earlier than the moment. */
export function retryTime(moment: number): string {
  return new Date(Math.ceil(moment / 1000) * 1000).toUTCString().replace('GMT', 'UTC');
}

/** What is known of the provider's window; `Reset` in seconds from now. */
export function quotaHeaders(quota: Quota, now: number): string[] {
  const headers: string[] = [];
  if (quota.limit !== undefined) headers.push('X-Svc-RateLimit-Limit', String(quota.limit));
  if (quota.remaining !== undefined) headers.push('X-Svc-RateLimit-Remaining', String(quota.remaining));
  if (quota.resetAt !== undefined) {
    headers.push('X-Svc-RateLimit-Reset', String(Math.max(0, Math.ceil((quota.resetAt - now) / 1000))));
  }
  return headers;
}

/** How much of an answer is read to see if it reports a limit. */
export const lookBytes = 64 * 1024;
const mostText = 4 * lookBytes;

/** The beginning of a body as text, decoded as its content coding says; empty when it cannot be read. */
export function readableStart(body: Buffer, contentEncoding: string | undefined): string {
  const bytes = body.subarray(0, lookBytes);
  try {
    return decoded(bytes, (contentEncoding ?? 'identity').trim().toLowerCase()).toString('utf8');
  } catch {
    return '';
  }
}

function decoded(bytes: Buffer, coding: string): Buffer {
  // The end may be missing; the beginning is enough.
  const partly = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: mostText };
  if (coding === 'gzip' || coding === 'x-gzip') return gunzipSync(bytes, partly);
  if (coding === 'deflate') return inflateSync(bytes, partly);
  if (coding !== 'br') return bytes;
  return brotliDecompressSync(bytes, {
    finishFlush: constants.BROTLI_OPERATION_FLUSH,
    maxOutputLength: mostText,
  });
}
