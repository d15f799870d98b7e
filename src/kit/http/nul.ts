import type { FastifyRequest } from 'fastify';
import { nulDetail as detail, nulPaths } from '../nul.ts';
import type { Issue } from '../problem.ts';

/** Where a body holds it. */
export function bodyNulIssues(body: unknown): Issue[] {
  return nulPaths(body).map((name) => ({ in: 'body', name: name === '' ? 'body' : name, detail }));
}

/** Where a request holds what PostgreSQL refused to keep. */
export function nulIssues({
  body,
  params,
  query,
}: Pick<FastifyRequest, 'body' | 'params' | 'query'>): Issue[] {
  return [
    ...bodyNulIssues(body),
    ...nulPaths(params).map((name): Issue => ({ in: 'path', name, detail })),
    ...nulPaths(query).map((name): Issue => ({ in: 'query', name, detail })),
  ];
}
