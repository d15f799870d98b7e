import type { Issue } from '../../kit/problem.ts';

/** Where the content stands in requests and in issues. */
export const contentPath = 'config.content';

/** One thing wrong with a config; short scalars are shown back. */
export function bodyIssue(name: string, detail: string, value?: unknown): Issue {
  return { in: 'body', name, detail, ...(value === undefined ? {} : { value }) };
}
