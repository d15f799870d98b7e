import { answerOf, type CallOptions, type Calls } from './calls.ts';
import type { AuditAction, AuditEntry } from './generated/api.ts';
import { listOf, type List, type PageQuery } from './pages.ts';
import { SvcError } from './problem.ts';

/** Which entries; all that is said holds. */
export interface AuditFilter {
  action?: AuditAction;
  targetId?: string;
  /** Done with this API key. */
  keyId?: string;
  /** Done by this group, or to it. */
  groupRef?: string;
  /** Done by this person. */
  personId?: string;
  from?: string;
  /** Before this moment. */
  to?: string;
}

/** Who changed what of the project, and to whom credentials were shown. */
export interface Audit {
  /** Newest first. */
  list(query?: AuditFilter & PageQuery, options?: CallOptions): List<AuditEntry>;
  /** The log as a file, newest first, in pieces as they come. Throws when it breaks off: what came until then is not whole. */
  export(
    query?: { format?: 'ndjson' | 'csv'; from?: string; to?: string },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
}

const log = '/v1/projects/{projectIdOrName}/audit-log';

export function auditOf({ api, projectIdOrName }: Calls): Audit {
  const path = { projectIdOrName };
  return {
    list: ({ pageSize, pageToken, ...filter } = {}, options = {}) =>
      listOf(
        (page) => answerOf(api.GET(log, { params: { path, query: { ...filter, ...page } }, ...options })),
        {
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(pageToken === undefined ? {} : { pageToken }),
        },
      ),
    async *export(query = {}, options = {}) {
      const params = { path, query };
      const body = await answerOf<ReadableStream<Uint8Array> | null>(
        api.GET(`${log}:export`, { params, parseAs: 'stream', ...options }),
      );
      if (body) yield* whole(body, options.signal);
    },
  };
}

async function* whole(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw new SvcError({
      code: 'broken-off',
      status: 0,
      detail: 'The answer broke off before its end.',
      remedy: 'Ask again: what came is not whole.',
      cause,
    });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
