import { SvcError } from '@svc/client';

/** What a front-end token is asked for with. */
export interface Person {
  groupRef: string;
  consumerRef: string;
}
/** The token, or the token with when it ends and whom it is for, as `POST …/frontend-tokens` answers. */
export type GivenToken = string | ({ token: string; expiresAt?: string } & Partial<Person>);
/** Answers a token, or the answer of the builder's server as it came. */
export type GetToken = (person: Person) => Promise<GivenToken | Response>;

interface Held {
  token: Promise<string>;
  until: number;
}

/** A token is asked for again so long before it ends. */
const aheadMs = 30_000;
const unknownLifeMs = 60_000;
/** A person waits no longer for the builder's server. */
const answersWithinMs = 15_000;

/** Keeps a token in memory until shortly before it ends, or it was refused. */
export function createTokens(getToken: GetToken, person: Person): { get(): Promise<string>; forget(): void } {
  let held: Held | undefined;
  async function ask(): Promise<string> {
    const { token, expiresAt, ...whose } = givenIn(await inTime(given(getToken, person)).catch(refused));
    if (token.startsWith('svc_')) warnOfKey('getToken answered');
    const claims = claimsOf(token);
    refuseAnother({ ...whose, ...claims }, person);
    const endsAt = expiresAt === undefined ? Number(claims.exp) * 1_000 : Date.parse(expiresAt);
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

/** What is still not answered by then counts as a server that is away. */
async function inTime<Value>(answer: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error('no token: no answer'), { status: 504 })),
      answersWithinMs,
    );
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** A fault of whoever built the page, not of who uses it. */
function givenIn(answer: unknown): Claims & { token: string; expiresAt: string | undefined } {
  const { token, expiresAt, groupRef, consumerRef } =
    typeof answer === 'string' ? { token: answer } : (Object(answer) as GivenParts);
  if (typeof token === 'string' && token !== '')
    return { token, expiresAt: typeof expiresAt === 'string' ? expiresAt : undefined, groupRef, consumerRef };
  throw faultOfPage('getToken answered no token');
}

/** With the token of somebody else the page would show that nothing is connected. */
function refuseAnother(claims: Claims, person: Person): void {
  for (const name of ['groupRef', 'consumerRef'] as const)
    if (typeof claims[name] === 'string' && claims[name] !== person[name])
      throw faultOfPage(
        `getToken answered a token of the ${name} ${claims[name]}, for the ${name} ${person[name]}`,
      );
}

/** Whatever the key may do: whoever opens the page can do it, too. */
export function warnOfKey(how: string): void {
  // oxlint-disable-next-line no-console -- for whoever built the page
  console.error(
    `@svc/embed: ${how} an API key, which whoever opens the page can read: use front-end tokens; a key of scope frontend is for development only`,
  );
}

/** Whether the page is served by the machine that it is developed on. */
export const isDevelopment = (): boolean =>
  typeof location === 'undefined' ||
  location.hostname === '' ||
  /(^|\.)localhost$|^127\.|^\[::1\]$/.test(location.hostname);

/** Who uses the page can do nothing about it. */
export function faultOfPage(detail: string, code = 'token-missing'): SvcError {
  // oxlint-disable-next-line no-console -- for whoever built the page
  console.error(`@svc/embed: ${detail}`);
  return new SvcError({ code, status: 401, detail });
}

interface GivenParts extends Claims {
  token?: unknown;
  expiresAt?: unknown;
}

/** The builder's server gives no token: whoever was signed in there is not any more. A page without a network says so itself. */
function refused(cause: unknown): undefined {
  // A page came where JSON was awaited.
  if (cause instanceof SyntaxError) return undefined;
  if (cause instanceof TypeError || cause instanceof SvcError) throw cause;
  const { status, message } = Object(cause) as { status?: unknown; message?: unknown };
  const code = Number(status) >= 500 ? 'token-unavailable' : 'unauthenticated';
  throw new SvcError({ code, status: 401, detail: String(message ?? cause), cause });
}

type Claims = Partial<Record<'exp' | keyof Person, unknown>>;

/** Of a JWT; none of another token. */
function claimsOf(token: string): Claims {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
      one.charCodeAt(0),
    );
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Claims;
  } catch {
    return {};
  }
}
