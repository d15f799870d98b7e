import { useCallback, useEffect, useRef, useState } from 'react';
import type { Connection, ConnectionRequest } from '@svc/client';
import { useSvc, type SvcContext } from '../hooks/provider.tsx';

/** How far a sign-in at the provider is. */
export type OAuthState =
  | { phase: 'idle' }
  | { phase: 'starting' }
  /** `url`: to open the window again. */
  | { phase: 'waiting'; url: string }
  | { phase: 'blocked'; url: string }
  | { phase: 'closed'; url: string }
  | ({ phase: 'refused' } & Refusal)
  | { phase: 'failed'; error: Error };

/** Why a sign-in ended without a connection: in svc's words, and whether the person said no. */
export interface Refusal {
  error: string;
  isDenied: boolean;
}

export interface SignIn {
  provider: string;
  place: Pick<ConnectionRequest, 'providerWorkspaceRef' | 'providerMetadata'>;
  /** The connection that gets new credentials. */
  renews?: Connection | undefined;
}

const windowForm = 'popup,width=600,height=720';
/** A provider may cut the window off from its opener: then only svc knows how it ended. */
const lookEveryMs = 2_000;

/** Signs in in a window of its own, or in place of this page when `returnUrl` is given. */
export function useOAuth(
  onConnected: (connection: Connection) => void,
  returnUrl?: string,
): { state: OAuthState; start: (signIn: SignIn) => void; open: (url: string) => void; reset: () => void } {
  const context = useSvc();
  const [state, setState] = useState<OAuthState>({ phase: 'idle' });
  const popup = useRef<Window | null>(null);
  const asked = useRef<{ signIn: SignIn; before: string }>(undefined);
  const done = useRef(onConnected);
  done.current = onConnected;

  const start = useCallback(
    (signIn: SignIn) => {
      // Opened in the click itself, or browsers block it.
      popup.current = returnUrl === undefined ? window.open('about:blank', 'svc-connect', windowForm) : null;
      setState({ phase: 'starting' });
      begin(context, signIn, returnUrl).then(
        ({ url, before }) => {
          asked.current = { signIn, before };
          if (returnUrl !== undefined) return location.assign(url);
          if (!popup.current || popup.current.closed) return setState({ phase: 'blocked', url });
          popup.current.location.href = url;
          return setState({ phase: 'waiting', url });
        },
        (error: Error) => {
          popup.current?.close();
          setState({ phase: 'failed', error });
        },
      );
    },
    [context, returnUrl],
  );

  const url = 'url' in state ? state.url : undefined;
  const isOpen = state.phase === 'waiting' || state.phase === 'blocked' || state.phase === 'closed';
  useEffect(() => {
    if (!isOpen || url === undefined || !asked.current) return undefined;
    const { signIn, before } = asked.current;
    return watch(context, signIn, before, {
      popup: () => popup.current,
      connected: (connection) => {
        popup.current?.close();
        setState({ phase: 'idle' });
        done.current(connection);
      },
      refused: (refusal) => setState({ phase: 'refused', ...refusal }),
      closed: () => setState((now) => (now.phase === 'waiting' ? { phase: 'closed', url } : now)),
    });
  }, [context, isOpen, url]);

  const open = useCallback((link: string) => {
    popup.current = window.open(link, 'svc-connect', windowForm);
    if (popup.current) setState({ phase: 'waiting', url: link });
  }, []);
  const reset = useCallback(() => {
    popup.current?.close();
    setState({ phase: 'idle' });
  }, []);
  return { state, start, open, reset };
}

async function newest({ svc, groupRef }: SvcContext, provider: string): Promise<Connection | undefined> {
  for await (const connection of svc.connections.list({ groupRef, provider })) {
    if (connection.status !== 'bad_credentials') return connection;
  }
  return undefined;
}

const markOf = (connection: Connection | undefined): string => `${connection?.id} ${connection?.updateTime}`;

async function begin(
  context: SvcContext,
  { provider, place, renews }: SignIn,
  returnUrl: string | undefined,
): Promise<{ url: string; before: string }> {
  const { svc, groupRef, groupName, consumerRef, consumerName } = context;
  const before = markOf(await newest(context, provider));
  if (renews && returnUrl === undefined)
    return { before, url: await svc.connections.reconnectUrl(renews.id) };
  const workspace = renews?.providerWorkspaceRef;
  const url = await svc.connections.connectUrl({
    provider,
    groupRef,
    consumerRef,
    ...(groupName === undefined ? {} : { groupName }),
    ...(consumerName === undefined ? {} : { consumerName }),
    ...(workspace === undefined ? {} : { providerWorkspaceRef: workspace }),
    ...place,
    ...(returnUrl === undefined ? {} : { returnUrl }),
  });
  return { before, url };
}

interface Watcher {
  popup(): Window | null;
  connected(connection: Connection): void;
  refused(refusal: Refusal): void;
  closed(): void;
}

interface Told {
  eventType?: unknown;
  data?: { connection?: string; error?: string; reason?: string };
}

/** Hears the window, and asks svc beside it. Returns what ends the watch. */
function watch(context: SvcContext, { provider }: SignIn, before: string, watcher: Watcher): () => void {
  const { svc, baseUrl } = context;
  let isOver = false;
  const settle = async (id: string | undefined): Promise<void> => {
    const found = id === undefined ? await newest(context, provider) : await svc.connections.get(id);
    if (isOver || !found || (id === undefined && markOf(found) === before)) return;
    isOver = true;
    watcher.connected(found);
  };
  const hear = ({ origin, data }: MessageEvent): void => {
    if (isOver || origin !== new URL(baseUrl).origin) return;
    const { eventType, data: told } = Object(data) as Told;
    if (eventType === 'AUTHORIZATION_SUCCEEDED') settle(told?.connection).catch(() => undefined);
    if (eventType !== 'AUTHORIZATION_FAILED') return;
    isOver = true;
    watcher.refused({ error: told?.error ?? '', isDenied: told?.reason === 'denied' });
  };
  const looking = setInterval(() => {
    if (isOver) return;
    settle(undefined).catch(() => undefined);
    if (watcher.popup()?.closed) watcher.closed();
  }, lookEveryMs);
  addEventListener('message', hear);
  return () => {
    isOver = true;
    clearInterval(looking);
    removeEventListener('message', hear);
  };
}

/** How a sign-in in place of the page ended, read from its address once; the address is cleaned. */
export function takeReturn(): { connectionId: string } | Refusal | undefined {
  const url = new URL(location.href);
  const [connectionId, error] = [url.searchParams.get('connectionId'), url.searchParams.get('error')];
  if (connectionId === null && error === null) return undefined;
  const isDenied = url.searchParams.get('errorReason') === 'denied';
  for (const name of ['connectionId', 'error', 'errorReason']) url.searchParams.delete(name);
  history.replaceState(history.state, '', url);
  return connectionId === null ? { error: error ?? '', isDenied } : { connectionId };
}
