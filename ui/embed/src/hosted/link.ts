import { SvcError, type OpenedConnectLink } from '@svc/client';

/** What the page was opened with. */
export interface OpenedLink extends OpenedConnectLink {
  /** For when the first one ends. */
  renew(): Promise<{ token: string; expiresAt: string }>;
}

const browserKey = 'svc-connect-browser';
const linkKey = 'svc-connect-link';

/** A secret of this browser: a link for one use is opened again by it only. */
function browserSecret(): string {
  const known = read(() => localStorage, browserKey);
  if (known) return known;
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const made = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  write(() => localStorage, browserKey, made);
  return made;
}

/** Storage may be switched off: then the link serves until the page is left. */
function read(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

function write(storage: () => Storage, key: string, value: string): void {
  try {
    storage().setItem(key, value);
  } catch {
    // Nothing depends on it but the way back.
  }
}

/** The link of the address, taken out of it; on the way back from a provider, the one that this tab was opened with. */
function takeLink(): string {
  const given = location.hash.slice(1);
  if (given === '') return read(() => sessionStorage, linkKey) ?? '';
  write(() => sessionStorage, linkKey, given);
  history.replaceState(null, '', location.pathname + location.search);
  return given;
}

/** The last part of the path. */
function projectOfPage(): string {
  return location.pathname.split('/').findLast((part) => part !== '') ?? '';
}

/** Throws the problem that svc answers, or that it does not answer. */
export async function openLink(): Promise<OpenedLink> {
  const link = takeLink();
  const browser = browserSecret();
  const open = async (): Promise<OpenedConnectLink> => {
    const answer = await fetch('/v1/connect-links:open', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link: link === '' ? '-' : link, browser, projectId: projectOfPage() }),
    });
    const { ok, status } = answer;
    const body = parsed(await answer.text());
    if (ok && typeof body['token'] === 'string') return body as unknown as OpenedConnectLink;
    const { detail } = body;
    // What no link and no project looks like leads nowhere, either.
    const code = body['code'] === 'invalid-request' ? 'connect-link-over' : body['code'];
    if (typeof code === 'string' && status < 500)
      throw new SvcError({ code, status, detail: typeof detail === 'string' ? detail : code });
    throw awayFor(`${status}`);
  };
  const opened = (): Promise<OpenedConnectLink> =>
    open().catch((cause: unknown) => {
      throw cause instanceof SvcError ? cause : awayFor(String(cause));
    });
  return { ...(await opened()), renew: opened };
}

/** The network, what stands before svc, or svc itself. */
function awayFor(detail: string): SvcError {
  return new SvcError({ code: 'unreachable', status: 0, detail });
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
