import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { patternAdvice } from '../../src/kit/reference-schema.ts';

type Node = Readonly<Record<string, unknown>>;

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as Node;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

const at = (ref: string): unknown =>
  ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, key) => (node as Node)[key], document);

/** The patterns of what callers send: of bodies and parameters, not of answers. */
function patternsIn(node: unknown, seen = new Set<unknown>()): string[] {
  if (!isNode(node) || seen.has(node)) return [];
  seen.add(node);
  const { $ref: ref, pattern } = node;
  const own = typeof pattern === 'string' ? [pattern] : [];
  const below = Object.entries(node).flatMap(([key, child]) =>
    key === 'responses' ? [] : patternsIn(child, seen),
  );
  return [...own, ...(typeof ref === 'string' ? patternsIn(at(ref), seen) : []), ...below];
}

it('says of each form that callers must keep to what is allowed, in words', () => {
  const patterns = [...new Set(patternsIn(document['paths']))];
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((pattern) => patternAdvice[pattern] === undefined)).toEqual([]);
});
