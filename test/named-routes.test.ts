import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, it } from 'vitest';

/** A call as texts name it: whole, or its end after `…`. */
const named = /\b(GET|POST|PUT|PATCH|DELETE) (…?)(\/(?:\$?\{\w+\}|[\w/:-])*)/g;

/** A path whatever its parameters are called, and without the full stop or colon of a sentence. */
const shapeOf = (path: string): string => path.replaceAll(/\$?\{\w+\}/g, '{}').replace(/:$/, '');

it('every call that the sources name is one of the API', async () => {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: shapeOf(path) })),
  );
  const calls: string[] = [];
  const unknown: string[] = [];
  for await (const file of glob('src/**/*.ts')) {
    if (/\.(test|testsuite|fixture)\.ts$/.test(file)) continue;
    for (const [call, method, cut, path = ''] of readFileSync(file, 'utf8').matchAll(named)) {
      calls.push(call);
      const end = shapeOf(path);
      const isThere = routes.some(
        (one) => one.method === method && (cut ? one.path.endsWith(end) : one.path === end),
      );
      if (!isThere) unknown.push(`${file}: ${call}`);
    }
  }
  expect(unknown).toEqual([]);
  expect(calls.length).toBeGreaterThan(20);
});
