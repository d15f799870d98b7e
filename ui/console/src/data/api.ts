import createClient from 'openapi-fetch';
import { SvcError, type paths } from '@svc/client';
import { createStore } from '../ui/store.ts';
import { isAttended } from './attended.ts';

export { answerOf as answer } from '@svc/client';

/** Whether the server answers; `shell/away.tsx` says when it does not, and asks until it does. */
export const isAway = createStore(false);

/** Asks whether the server is there: a proxy in front answers for one that is not. */
export async function isThere(): Promise<boolean> {
  const answer = await fetch('/healthz').catch(() => undefined);
  return answer !== undefined && ![502, 503, 504].includes(answer.status);
}

/** Asks whether the server is there, and could serve. */
export const isReady = async (): Promise<boolean> =>
  (await fetch('/readyz').catch(() => undefined))?.ok === true;

/** Whether a request was refused since nobody is signed in any more; `shell/sign-in-again.tsx` asks for the password then. */
export const isSignedOut = createStore(false);

/** Every path of the API, typed, by the cookie of the session. What is no success is thrown by `answer`, as a `SvcError`. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: watched });

async function watched(request: Request): Promise<Response> {
  if (!isAttended()) request.headers.set('svc-unattended', '1');
  const response = await fetch(request).catch((cause: unknown) => {
    if (request.signal.aborted) throw cause;
    isAway.set(true);
    throw new SvcError({
      code: 'unreachable',
      status: 0,
      detail: 'The server does not answer.',
      remedy: 'What you typed is kept; send it again once the server is back.',
      retryable: true,
      cause,
    });
  });
  // What stands before svc answers these while it is gone, and svc itself while its database is.
  if ([502, 503, 504].includes(response.status)) isAway.set(true);
  // A wrong password is a 401, too, and says nothing of the session.
  if (response.status === 401 && (await codeOf(response)) === 'unauthenticated') isSignedOut.set(true);
  return response;
}

async function codeOf(response: Response): Promise<unknown> {
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { code?: unknown } | undefined;
  return body?.code;
}
