import { SvcError } from '@svc/client';

/** What a front-end token is asked for with. */
export interface Person {
  groupRef: string;
  consumerRef: string;
}
/** The token, or the token and when it ends, as `POST …/frontend-tokens` answers. */
export type GivenToken = string | { token: string; expiresAt?: string };
/** Answers a token, or the answer of the builder's server as it came. */
export type GetToken = (person: Person) => Promise<GivenToken | Response>;

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
    const { token, expiresAt } = givenIn(await given(getToken, person).catch(refused));
    const endsAt = expiresAt === undefined ? endOf(token) : Date.parse(expiresAt);
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

async function given(getToken: GetToken, person: Person): Promise<unknown> {
  const answer = await getToken(person);
  if (!(answer instanceof Response)) return answer;
  const { ok, status } = answer;
  if (!ok) throw Object.assign(new Error(`no token: ${status}`), { status });
  return answer.json();
}

/** A fault of whoever built the page, not of who uses it. */
function givenIn(answer: unknown): { token: string; expiresAt: string | undefined } {
  const { token, expiresAt } =
    typeof answer === 'string' ? { token: answer } : (Object(answer) as GivenParts);
  if (typeof token === 'string' && token !== '')
    return { token, expiresAt: typeof expiresAt === 'string' ? expiresAt : undefined };
  const detail = 'getToken answered no token';
  // oxlint-disable-next-line no-console -- Who uses the page can do nothing about it.
  console.error(`@svc/embed: ${detail}`);
  throw new SvcError({ code: 'token-missing', status: 401, detail });
}

interface GivenParts {
  token?: unknown;
  expiresAt?: unknown;
}

/** The builder's server gives no token: whoever was signed in there is not any more. A page without a network says so itself. */
function refused(cause: unknown): never {
  if (cause instanceof TypeError || cause instanceof SvcError) throw cause;
  const { status, message } = Object(cause) as { status?: unknown; message?: unknown };
  const code = Number(status) >= 500 ? 'token-unavailable' : 'unauthenticated';
  throw new SvcError({ code, status: 401, detail: String(message ?? cause), cause });
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
