import { SvcError } from '@svc/client';

/** What a front-end token is asked for with. */
export interface Person {
  groupRef: string;
  consumerRef: string;
}
/** The token, or the token and when it ends, as `POST …/frontend-tokens` answers. */
export type GetToken = (person: Person) => Promise<string | { token: string; expiresAt: string }>;

interface Held {
  token: Promise<string>;
  until: number;
}

/** A token is asked for again so long before it ends. */
const aheadMs = 30_000;
const unknownLifeMs = 60_000;

/** Keeps a token in memory until shortly before it ends, or it was refused. */
export function createTokens(getToken: GetToken, person: Person): { get(): Promise<string>; forget(): void } {
  let held: Held | undefined;
  async function ask(): Promise<string> {
    const answer = await getToken(person).catch(refused);
    const token = typeof answer === 'string' ? answer : answer.token;
    const endsAt = typeof answer === 'string' ? endOf(token) : Date.parse(answer.expiresAt);
    if (held) held.until = Number.isNaN(endsAt) ? Date.now() + unknownLifeMs : endsAt - aheadMs;
    return token;
  }
  return {
    get() {
      if (held && Date.now() < held.until) return held.token;
      const token = ask();
      held = { token, until: Infinity };
      token.catch(() => {
        held = undefined;
      });
      return token;
    },
    forget() {
      held = undefined;
    },
  };
}

/** The builder's server gives no token: whoever was signed in there is not any more. A page without a network says so itself. */
function refused(cause: unknown): never {
  if (cause instanceof TypeError || cause instanceof SvcError) throw cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  throw new SvcError({ code: 'unauthenticated', status: 401, detail, cause });
}

/** The `exp` of a JWT, in milliseconds. */
function endOf(token: string): number {
  try {
    const [, payload = ''] = token.split('.');
    const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown };
    return typeof claims.exp === 'number' ? claims.exp * 1_000 : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
