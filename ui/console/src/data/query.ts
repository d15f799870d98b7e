import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { SvcError } from '@svc/client';

/** Worth asking again: what did not answer, or said that it may later. */
const mayPass = (error: Error): boolean => !(error instanceof SvcError) || error.retryable;

/** What is refused or not there may be so since the person has other rights by now: who they are is read again. */
function onError(error: Error): void {
  if (error instanceof SvcError && [403, 404].includes(error.status))
    void queryClient.invalidateQueries({ queryKey: ['session'] });
}

/**
 * What was read, by key: `[project, noun, …what else]`. The stream of changes (`data/live.ts`) makes stale what begins with the project and
 * the noun that changed.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && mayPass(error),
      retryDelay: (count) => 500 * 2 ** count,
    },
  },
});
