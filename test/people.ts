import { readFile } from 'node:fs/promises';
import type { Role, SignedIn } from '../src/people/schema.ts';
import { readAnswer, type Answer, type Platform } from './platform.ts';

type Body = Record<string, never>;

/** A browser: it keeps the cookie of its session, and says that its requests come from a page of the platform. */
export interface Browser {
  /** `path` is below `/v1`, unless it names another surface. */
  call<Found = Body>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Found>>;
  cookie(): string | undefined;
  setCookie(cookie: string | undefined): void;
  /** What the last answer set, with its attributes. */
  lastSet(): string | undefined;
}

export function openBrowser(base: string): Browser {
  let cookie: string | undefined;
  let lastSet: string | undefined;
  return {
    cookie: () => cookie,
    setCookie: (given) => {
      cookie = given;
    },
    lastSet: () => lastSet,
    async call<Found>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const url = base + (/^\/(v1|write|read|search|callbacks)\b/.test(path) ? path : `/v1${path}`);
      const answer = await fetch(url, {
        method,
        redirect: 'manual',
        headers: {
          'sec-fetch-site': 'same-origin',
          ...(cookie === undefined ? {} : { cookie }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      for (const each of answer.headers.getSetCookie()) {
        lastSet = each;
        const [pair = ''] = each.split(';');
        if (/svc-session=/.test(pair)) cookie = pair.endsWith('=') ? undefined : pair;
      }
      return readAnswer<Found>(answer);
    },
  };
}

/** The token behind the # of a link. */
export const tokenOf = (link: string): string => link.split('#token=')[1]?.trim() ?? '';

/** The token of the link that the platform made at its first start. */
export async function welcomeToken(platform: Pick<Platform, 'said'>): Promise<string> {
  return tokenOf(await readFile(welcomeFile(platform), 'utf8'));
}

/** Where the platform kept that link. */
export function welcomeFile(platform: Pick<Platform, 'said'>): string {
  const [, path = ''] = /first user signs in is in (\S+);/.exec(platform.said()) ?? [];
  return path;
}

export const password = 'correct horse battery staple';

/** The first user: an operator, and owner of every project. */
export async function becomeOwner(
  platform: Pick<Platform, 'base' | 'said'>,
  email = 'owner@example.com',
): Promise<Browser> {
  const browser = openBrowser(platform.base);
  const token = await welcomeToken(platform);
  const { status, text } = await browser.call('POST', '/invitations:accept', { token, email, password });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return browser;
}

/** Somebody who was invited with the platform's key and accepted. Where a test is repeated, they are a member already and sign in. */
export async function joinAs(
  platform: Pick<Platform, 'base' | 'call' | 'projectId'>,
  email: string,
  role: Role,
): Promise<Browser & { personId: string }> {
  const path = `/projects/${platform.projectId}/invitations`;
  const invited = await platform.call<{ url: string }>('POST', path, { email, role });
  const browser = openBrowser(platform.base);
  if (invited.status === 409) {
    const back = await browser.call<SignedIn>('POST', '/session', { email, password });
    if (back.status !== 200) throw new Error(`${back.status} ${back.text}`);
    return { ...browser, personId: back.body.person.id };
  }
  if (invited.status !== 201) throw new Error(`${invited.status} ${invited.text}`);
  const token = tokenOf(invited.body.url);
  const accepted = await browser.call<SignedIn>('POST', '/invitations:accept', { token, password });
  if (accepted.status !== 200) throw new Error(`${accepted.status} ${accepted.text}`);
  return { ...browser, personId: accepted.body.person.id };
}
