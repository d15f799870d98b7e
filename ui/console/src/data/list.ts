import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { isShort } from './live.ts';

/** A page of a list, as every list of the API answers it. */
export interface Page<Item> {
  results: Item[];
  pagination: { done: boolean; nextPageToken?: string };
}

/** What a page is asked for with: the query of every list has these two. */
export interface PageQuery {
  pageSize: number;
  pageToken?: string;
}

/** A list as a table shows it. */
export interface List<Item> {
  items: readonly Item[];
  isLoading: boolean;
  /** What is shown is of another filter, until the answer comes. */
  isOld: boolean;
  error: Error | null;
  /** It may be so of a list without items: a page may be empty and not the last. */
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
  /** Reads again what failed: the next page, or all that is shown. */
  reload: () => void;
}

/**
 * A list of the API, page by page as far as somebody scrolls. `againMs`: it changes without a change that is told, and is read again so
 * often.
 *
 * @example
 * useList([project, 'operations', filters], (page) =>
 *   answer(api.GET('/v1/projects/{projectIdOrName}/operations', { params: { path, query: { ...filters, ...page } } })))
 */
export function useList<Item>(
  key: readonly unknown[],
  load: (page: PageQuery) => Promise<Page<Item>>,
  {
    pageSize = 100,
    enabled = true,
    againMs,
  }: { pageSize?: number; enabled?: boolean; againMs?: number } = {},
): List<Item> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) =>
      load({ pageSize, ...(pageParam === undefined ? {} : { pageToken: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextPageToken,
    placeholderData: keepPreviousData,
    enabled,
    refetchOnWindowFocus: isShort,
    refetchInterval: (one) => (againMs !== undefined && isShort(one) ? againMs : false),
  });
  const isReadingAgain = query.isFetching && !query.isFetchingNextPage;
  /** It waits for a reading of what is shown, and does not end it. */
  const loadMore = async (): Promise<void> => {
    await query.fetchNextPage({ cancelRefetch: false });
    // Of a reading that was under way, that was the end.
    if (isReadingAgain) await query.fetchNextPage({ cancelRefetch: false });
  };
  return {
    items: query.data?.pages.flatMap(({ results }) => results) ?? [],
    isLoading: query.isLoading,
    isOld: query.isPlaceholderData,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void loadMore(),
    reload: () => void (query.isFetchNextPageError ? loadMore() : query.refetch()),
  };
}
