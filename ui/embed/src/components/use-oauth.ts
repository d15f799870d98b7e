import { useCallback, useEffect, useRef, useState } from 'react';
import type { Connection, ConnectionRequest, SvcError } from '@svc/client';
import { useSvc, whoseOf, type SvcContext } from '../hooks/provider.tsx';
import { problemOf } from '../hooks/store.ts';
import { newMark, reasonOf, type Refusal } from '../state/refusal.ts';
import { keepUntilGone } from './kept-draft.ts';
import { leaveFor } from './returning.ts';

/** How far a sign-in at the provider is. */
export type OAuthState =
  | { phase: 'idle' }
  | { phase: 'starting' }
  /** `url`: to open the window again. */
  | { phase: 'waiting'; url: string }
  | { phase: 'blocked'; url: string }
  | { phase: 'closed'; url: string }
  | { phase: 'refused'; refusal: Refusal }
  | { phase: 'failed'; error: SvcError };

export interface SignIn {
  provider: string;
  place: Pick<ConnectionRequest, 'providerWorkspaceRef' | 'providerMetadata'>;
  /** The connection that gets new credentials. */
  renews?: Connection | undefined;
  /** The account, where it is known. */
  workspace?: string | undefined;
}

const windowForm = 'popup,width=600,height=720';
/** A provider, or the policy of the page (`Cross-Origin-Opener-Policy`), may cut the window off, as if it were closed: then only svc knows how it ended. */
const lookEveryMs = 2_000;

/** What a sign-in was begun with, and its window. */
interface Flow {
  signIn: SignIn;
  /** The connections as they were, by id. */
  before: ReadonlyMap<string, string>;
  /** Each has a window of its own. Behind the last @ stands the page that hears it: the page at its end speaks to no other. */
  name: string;
  popup: Window | null;
}

/** Signs in in a window of its own, or in place of this page when `returnUrl` is given. `open` answers whether a window opened. */
export function useOAuth(
  /** `isNew`: this sign-in made it, as its window said. One that was only found may have been made elsewhere. */
  onConnected: (connection: Connection, isNew: boolean) => void,
  returnUrl?: string,
): { state: OAuthState; start: (signIn: SignIn) => void; open: (url: string) => boolean; reset: () => void } {
  const context = useSvc();
  const [state, setState] = useState<OAuthState>({ phase: 'idle' });
  const flow = useRef<Flow>(undefined);
  const done = useRef(onConnected);
  done.current = onConnected;
  const start = useCallback(
    (signIn: SignIn) => {
      flow.current?.popup?.close();
      const name = `svc-connect-${newMark()}@${location.origin}`;
      // Opened in the click itself, or browsers block it.
      const popup = returnUrl === undefined ? window.open('about:blank', name, windowForm) : null;
      const begun: Flow = { signIn, name, popup, before: new Map() };
      flow.current = begun;
      setState({ phase: 'starting' });
      begin(context, signIn, returnUrl).then(
        ({ url, before }) => {
          begun.before = before;
          if (flow.current !== begun) return undefined;
          if (returnUrl !== undefined) return leave(url);
          if (popup && !popup.closed) popup.location.href = url;
          return setState({ phase: !popup || popup.closed ? 'blocked' : 'waiting', url });
        },
        (cause: unknown) => {
          popup?.close();
          if (flow.current === begun) setState({ phase: 'failed', error: problemOf(cause) });
        },
      );
    },
    [context, returnUrl],
  );

  const url = 'url' in state ? state.url : undefined;
  useEffect(() => {
    const watched = flow.current;
    if (url === undefined || !watched) return undefined;
    return watch(context, watched, {
      connected: (connection, isNamed) => {
        watched.popup?.close();
        setState({ phase: 'idle' });
        done.current(connection, isNamed && !watched.before.has(connection.id));
      },
      refused: (refusal) => setState({ phase: 'refused', refusal }),
      closed: () => setState((now) => (now.phase === 'waiting' ? { ...now, phase: 'closed' } : now)),
    });
  }, [context, url]);

  const open = useCallback((link: string): boolean => {
    const popup = window.open(link, flow.current?.name, windowForm);
    if (flow.current) flow.current.popup = popup;
    if (popup) setState({ phase: 'waiting', url: link });
    return popup !== null;
  }, []);
  const reset = useCallback(() => {
    flow.current?.popup?.close();
    flow.current = undefined;
    setState({ phase: 'idle' });
  }, []);
  return { state, start, open, reset };
}

function leave(url: string): void {
  keepUntilGone();
  location.assign(url);
}

const markOf = ({ status, updateTime, tokenIssueTime }: Connection): string =>
  `${updateTime} ${tokenIssueTime} ${status === 'bad_credentials'}`;

async function connectionsOf({ svc, groupRef }: WatchContext, provider: string): Promise<Connection[]> {
  const found: Connection[] = [];
  for await (const connection of svc.connections.list({ groupRef, provider })) found.push(connection);
  return found;
}

async function begin(
  context: SvcContext,
  { provider, place, renews, workspace }: SignIn,
  returnUrl: string | undefined,
): Promise<{ url: string; before: Flow['before'] }> {
  const { svc, groupRef, groupName, consumerRef, consumerName } = context;
  const known = await connectionsOf(context, provider);
  const before = new Map(known.map((connection) => [connection.id, markOf(connection)]));
  if (renews && returnUrl === undefined)
    return { before, url: await svc.connections.reconnectUrl(renews.id) };
  const url = await svc.connections.connectUrl({
    provider,
    groupRef,
    consumerRef,
    ...(groupName === undefined ? {} : { groupName }),
    ...(consumerName === undefined ? {} : { consumerName }),
    ...(workspace === undefined ? {} : { providerWorkspaceRef: workspace }),
    ...place,
    ...(returnUrl === undefined
      ? {}
      : { returnUrl: leaveFor(returnUrl, whoseOf(context), provider, [...before.keys()]) }),
  });
  return { before, url };
}

interface Watcher {
  connected(connection: Connection, isNamed: boolean): void;
  refused(refusal: Refusal): void;
  closed(): void;
}

type WatchContext = Pick<SvcContext, 'svc' | 'groupRef' | 'consumerRef' | 'baseUrl'>;

interface Told {
  eventType?: unknown;
  data?: { connection?: string; reason?: string };
}

/** Hears the window, and asks svc beside it. Returns what ends the watch. */
export function watch(context: WatchContext, flow: Flow, watcher: Watcher): () => void {
  const { signIn, before } = flow;
  let isOver = false;
  const isItsOwn = (connection: Connection): boolean =>
    connection.provider === signIn.provider &&
    connection.status !== 'bad_credentials' &&
    before.get(connection.id) !== markOf(connection) &&
    (signIn.renews?.id === connection.id || connection.consumer.consumerRef === context.consumerRef);
  let named: string | undefined;
  /** Of a connection that the window named, or of those that there are. */
  const settle = async (): Promise<void> => {
    const all = await connectionsOf(context, signIn.provider);
    const found = all.find(
      (connection) => (named === undefined || connection.id === named) && isItsOwn(connection),
    );
    if (isOver || !found) return;
    isOver = true;
    watcher.connected(found, found.id === named);
  };
  const hear = ({ origin, source, data }: MessageEvent): void => {
    // A window that closed as it spoke is no source any more.
    const isFromIt = source === null ? flow.popup?.closed === true : source === flow.popup;
    if (isOver || !isFromIt || origin !== new URL(context.baseUrl).origin) return;
    const { eventType, data: told } = Object(data) as Told;
    if (eventType === 'AUTHORIZATION_SUCCEEDED') {
      named = told?.connection;
      settle().catch(() => undefined);
    }
    if (eventType !== 'AUTHORIZATION_FAILED') return;
    isOver = true;
    watcher.refused(reasonOf(told?.reason));
  };
  const looking = setInterval(() => {
    // A window that is open speaks for itself.
    if (isOver || flow.popup?.closed === false) return;
    settle().catch(() => undefined);
    if (flow.popup) watcher.closed();
  }, lookEveryMs);
  addEventListener('message', hear);
  return () => {
    isOver = true;
    clearInterval(looking);
    removeEventListener('message', hear);
  };
}
