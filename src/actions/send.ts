import { sqlState } from '../kit/db/faults.ts';
import type { HttpResult } from '../kit/http/client.ts';
import { Problem } from '../kit/problem.ts';
import type { Failure, ProviderClient, ProviderRequest } from '../providers/index.ts';

/** The client throws only before a byte left, or after a 401: nothing was applied, whatever the problem is. */
export async function sendOrExplain(
  { client }: { client: ProviderClient },
  request: ProviderRequest,
  maySend?: () => boolean,
): Promise<HttpResult | { failure: Failure }> {
  try {
    return await client.send(request, maySend);
  } catch (error) {
    return { failure: failureBeforeSend(error) };
  }
}

/** What kept a call from being made: a problem, or the database. Throws anything else: that is a fault in this program. */
export function failureBeforeSend(error: unknown): Failure {
  if (sqlState(error) !== undefined) {
    const message = `nothing was sent: the database refused a statement (SQLSTATE ${sqlState(error)})`;
    return { category: 'internal', retryable: true, message };
  }
  if (!(error instanceof Problem)) throw error;
  const isAuth = error.code === 'connection-bad-credentials' || error.details.extra?.['category'] === 'auth';
  if (error.code === 'provider-rate-limited') {
    const retryAfterMs = (error.details.retryAfterSeconds ?? 1) * 1000;
    return { category: 'rateLimit', retryable: true, message: error.message, retryAfterMs };
  }
  if (error.code === 'credentials-unreadable')
    return { category: 'internal', retryable: error.retryable, message: error.message, unreadable: true };
  if (error.code === 'provider-app-invalid')
    return { category: 'internal', retryable: false, message: error.message, appInvalid: true };
  if (error.code === 'not-found')
    return { category: 'auth', retryable: false, message: error.message, gone: true };
  const category = isAuth ? 'auth' : error.retryable ? 'providerDown' : 'internal';
  return { category, retryable: error.retryable, message: error.message };
}
