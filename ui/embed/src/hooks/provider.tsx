import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { createFrontend, type Frontend, type SvcError } from '@svc/client';
import { createQueryStore, type Loaded, type QueryStore } from './store.ts';
import { createTokens, faultOfPage, isDevelopment, warnOfKey, type GetToken } from './tokens.ts';

export interface SvcProviderProps {
  /** Where svc is, such as `https://svc.example.com`. */
  baseUrl: string;
  /** The id or name of the project. */
  project: string;
  /** Asks the builder's own server for a front-end token; called again when one ends. */
  getToken?: GetToken;
  /** A key of scope `frontend`, for development only: whoever opens the page can read it. */
  apiKey?: string;
  integration: string;
  groupRef: string;
  groupName?: string;
  consumerRef: string;
  consumerName?: string;
  children?: ReactNode;
}

/** What all hooks work with. */
export interface SvcContext extends Omit<SvcProviderProps, 'getToken' | 'apiKey' | 'children'> {
  svc: Frontend;
  store: QueryStore;
  /** Why nothing can be asked for. */
  fault: SvcError | undefined;
}

const Context = createContext<SvcContext | undefined>(undefined);

/** Says whose account is connected, for which integration, and how svc is reached. */
export function SvcProvider({ children, ...props }: SvcProviderProps): ReactNode {
  const { baseUrl, project, apiKey, integration, groupRef, groupName, consumerRef, consumerName } = props;
  const latest = useMemo(() => ({ getToken: props.getToken }), []);
  latest.getToken = props.getToken;
  const reached = useMemo(
    () => ({
      baseUrl,
      project,
      integration,
      groupRef,
      consumerRef,
      svc: connect({ baseUrl, project, apiKey, groupRef, consumerRef }, (person) => {
        if (latest.getToken) return latest.getToken(person);
        throw faultOfPage('<SvcProvider> has no getToken');
      }),
      store: createQueryStore(),
      fault: faultIn({ project, integration, groupRef, consumerRef }),
    }),
    [baseUrl, project, apiKey, integration, groupRef, consumerRef, latest],
  );
  // Names may come later: what is known and entered stays.
  const value = useMemo(
    (): SvcContext => ({
      ...reached,
      ...(groupName === undefined ? {} : { groupName }),
      ...(consumerName === undefined ? {} : { consumerName }),
    }),
    [reached, groupName, consumerName],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

function faultIn(props: Readonly<Record<string, unknown>>): SvcError | undefined {
  const empty = Object.keys(props).filter((name) => typeof props[name] !== 'string' || props[name] === '');
  return empty.length === 0
    ? undefined
    : faultOfPage(`${empty.join(', ')} of <SvcProvider> is empty`, 'page-fault');
}

export function useSvc(): SvcContext {
  const value = useContext(Context);
  if (!value) throw new TypeError('hooks and components of @svc/embed stand inside <SvcProvider>');
  return value;
}

/** Another customer, person or integration is another text: what was told and entered is not theirs. */
export function whoseOf({ baseUrl, project, integration, groupRef, consumerRef }: SvcContext): string {
  return JSON.stringify([baseUrl, project, integration, groupRef, consumerRef]);
}

export const useWhose = (): string => whoseOf(useSvc());

interface Reached {
  baseUrl: string;
  project: string;
  apiKey: string | undefined;
  groupRef: string;
  consumerRef: string;
}

/** A person waits: few repetitions, and soon. */
const patience = { retries: 2, retryWithinMs: 6_000, timeoutMs: 30_000 };

function connect({ baseUrl, project, apiKey, ...person }: Reached, getToken: GetToken): Frontend {
  const ask = hinting();
  if (apiKey !== undefined && !isDevelopment()) warnOfKey('<SvcProvider> was given');
  if (apiKey !== undefined) return createFrontend({ baseUrl, project, apiKey, ...patience, fetch: ask });
  const tokens = createTokens(getToken, person);
  return createFrontend({
    baseUrl,
    project,
    token: () => tokens.get(),
    ...patience,
    // A token that ended early is asked for again, once; what was typed stays.
    fetch: async (url, sent) => {
      const answer = await ask(url, sent);
      if (answer.status !== 401) return answer;
      tokens.forget();
      const headers = new Headers(sent.headers);
      headers.set('authorization', `Bearer ${await tokens.get()}`);
      const second = await ask(url, { ...sent, headers });
      if (second.status === 401) await tellWhy(second.clone());
      return second;
    },
  });
}

/** A new token is refused, too: who uses the page signs in again, and who builds it reads why. */
async function tellWhy(answer: Response): Promise<void> {
  const { detail, remedy } = Object(await answer.json().catch(() => undefined)) as Record<string, unknown>;
  // oxlint-disable-next-line no-console -- for whoever built the page
  console.error(`@svc/embed: the token is refused: ${[detail, remedy].filter(Boolean).join(' ')}`);
}

/** A browser does not tell a page why it got no answer: whoever builds the page reads what it may be, once. */
function hinting(): (url: string, sent: RequestInit) => Promise<Response> {
  let isTold = false;
  return async (url, sent) =>
    fetch(url, sent).catch((cause: unknown) => {
      if (!isTold && cause instanceof TypeError && typeof location !== 'undefined' && navigator.onLine) {
        isTold = true;
        // oxlint-disable-next-line no-console -- Nothing else tells who builds the page.
        console.warn(
          `@svc/embed: no answer; look at baseUrl and project, and list ${location.origin} in allowedOrigins`,
        );
      }
      throw cause;
    });
}

/** What svc answers under a key; `undefined` as the key asks for nothing. */
export function useQuery<Value>(key: string | undefined, load: () => Promise<Value>): Loaded<Value> {
  const { store, fault } = useSvc();
  const state = useSyncExternalStore(
    store.subscribe,
    () => (key === undefined ? idle : store.read(key)),
    () => idle,
  );
  useEffect(() => {
    if (key !== undefined) store.want(key, fault ? async () => Promise.reject(fault) : load);
  });
  return state as Loaded<Value>;
}

const idle: Loaded<unknown> = { data: undefined, error: undefined, isFetching: false };
