import { useQueryClient, type Query, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Changes } from '@svc/client';
import { isAway, isThere } from './api.ts';
import { follow, type Heard } from './stream.ts';

/** The noun of the key under which a type of change is read, where it is not its plural. */
const nouns: Record<string, string> = { delivery: 'deliveries', apiKey: 'api-keys', jwtKey: 'jwt-keys' };
const nounOf = (type: string): string =>
  nouns[type] ?? `${type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}s`;

/**
 * What else is read again when something of a type changes: what stands in addresses by its name, too, so that its key may not hold the id,
 * the project itself, and installations, which show whether their connection works.
 */
const also: Partial<Record<string, string>> = {
  project: 'projects',
  integration: 'integrations',
  destination: 'destinations',
  connection: 'installations',
};
/** What decides which projects the person sees, by which names, and what they may do there. */
const ofSession = new Set(['member', 'project']);
const session = { queryKey: ['session'] };

/** In place of nouns: all that was read of the project. */
const everything = '*';

const readAgainEveryMs = 1000;
/** Further down a list somebody reads; it would be loaded page by page again. */
const mostPages = 2;

/** Reads again what changes in a project, once a second at the most. A tab that nobody sees holds no stream. */
export function useLive(project: string): void {
  const client = useQueryClient();
  useEffect(() => {
    let leave: (() => void) | undefined;
    const { waiting, flush } = createReadAgain(client, project);
    const hear = (heard: Heard): void => {
      if (heard === 'broken') {
        void noteIfAway();
        return;
      }
      if (heard === 'resync') {
        waiting.add(everything);
        void client.invalidateQueries(session);
        return;
      }
      const { changes, more } = JSON.parse(heard.change) as Changes;
      for (const { type, id } of changes) {
        waiting.add(`${nounOf(type)} list`).add(`${nounOf(type)} ${id}`);
        waiting.add('overview').add('audit-log list');
      }
      for (const type of more) waiting.add(nounOf(type));
      const types = [...changes.map(({ type }) => type), ...more];
      for (const type of types) if (also[type] !== undefined) waiting.add(also[type]);
      if (types.some((type) => ofSession.has(type))) void client.invalidateQueries(session);
    };
    const close = (): void => {
      leave?.();
      leave = undefined;
    };
    const open = (): void => {
      close();
      if (document.hidden) return;
      leave = follow(`/v1/projects/${encodeURIComponent(project)}/stream`, hear);
    };
    const look = (): void => {
      open();
      if (!document.hidden) void client.invalidateQueries({ queryKey: [project], predicate: isShort });
    };
    open();
    const timer = setInterval(flush, readAgainEveryMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      close();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [project, client]);
}

/** Streams end by themselves, too; whether the server is there, only asking tells. */
async function noteIfAway(): Promise<void> {
  if (!(await isThere())) isAway.set(true);
}

interface ReadAgain {
  waiting: Set<string>;
  flush: () => void;
}

function createReadAgain(client: QueryClient, project: string): ReadAgain {
  const waiting = new Set<string>();
  /** What was being read when something of it changed: the answer may be older, so it is read again afterwards. */
  const late = new Set<Query>();
  const readAgain = (which: { queryKey: QueryKey; exact?: boolean }): void => {
    // A reading that is slower than changes follow one another would never end.
    void client.invalidateQueries({ ...which, predicate: isShort }, { cancelRefetch: false });
  };
  return {
    waiting,
    flush() {
      for (const query of late) {
        if (query.state.fetchStatus === 'fetching') continue;
        late.delete(query);
        readAgain({ queryKey: query.queryKey, exact: true });
      }
      for (const key of waiting) {
        const queryKey = key === everything ? [project] : [project, ...key.split(' ')];
        for (const query of client.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' }))
          late.add(query);
        readAgain({ queryKey });
      }
      waiting.clear();
    },
  };
}

/** Of a list, whether few enough pages of it are loaded to load them again. */
export const isShort = ({ state: { data } }: Pick<Query, 'state'>): boolean =>
  ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) <= mostPages;
