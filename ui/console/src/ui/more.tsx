import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

interface Rest {
  error: Error | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
  reload: () => void;
}

/** The end of a list in a timeline: why it could not be read, or the way to more of it. */
export function More({ error, hasMore, isLoadingMore, loadMore, reload }: Rest): ReactNode {
  if (error)
    return (
      <li>
        <Problem error={error} onRetry={reload} />
      </li>
    );
  if (!hasMore) return null;
  return (
    <li>
      <Button look="quiet" isBusy={isLoadingMore} onClick={loadMore}>
        Load more
      </Button>
    </li>
  );
}
