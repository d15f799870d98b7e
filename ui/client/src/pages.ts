/** One page of a list, as svc answers it. */
export interface Page<Item> {
  results: Item[];
  pagination: { done: boolean; nextPageToken?: string };
}

export interface PageQuery {
  pageSize?: number;
  pageToken?: string;
}

/** A list: iterated item by item, or page by page. Nothing is asked for before, and no page sooner than it is needed. */
export interface List<Item> extends AsyncIterable<Item> {
  pages(): AsyncGenerator<Page<Item>>;
}

/** The list whose pages `fetchPage` gets. */
export function listOf<Item>(
  fetchPage: (query: PageQuery) => Promise<Page<Item>>,
  first: PageQuery,
): List<Item> {
  const pageSize = first.pageSize ?? 200;
  async function* pages(): AsyncGenerator<Page<Item>> {
    let pageToken = first.pageToken;
    for (;;) {
      const page = await fetchPage({ pageSize, ...(pageToken === undefined ? {} : { pageToken }) });
      yield page;
      pageToken = page.pagination.nextPageToken;
      if (page.pagination.done || pageToken === undefined) return;
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { results } of pages()) yield* results;
    },
  };
}
