import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileCheck } from '../../kit/http/validation.ts';
import { checkShape } from './check-shape.ts';
import { renderPath } from './finding.ts';
import { Manifest } from './schema.ts';

const byAjv = compileCheck(Manifest);
const names = (value: unknown): string[] =>
  [...new Set(byAjv(value, 'body').issues.map(({ name }) => name))].sort();
const paths = (value: unknown): string[] =>
  [...new Set(checkShape(Manifest, value).map(({ path }) => renderPath(path)))].sort();

const sound = {
  specVersion: '1.0.0',
  'x-shared': { anything: [1, null] },
  integrations: [
    {
      name: 'mine',
      displayName: 'Mine',
      provider: 'hubspot',
      read: {
        objects: [
          {
            objectName: 'contacts',
            destination: 'hook',
            requiredFields: [{ fieldName: 'email' }],
            backfill: { defaultPeriod: { days: 3 } },
            delivery: { mode: 'onRequest', pageSize: 50 },
          },
        ],
      },
      write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
      subscribe: {
        objects: [
          {
            objectName: 'contacts',
            destination: 'hook',
            updateEvent: { enabled: 'always', watchFieldsAuto: 'all' },
          },
        ],
      },
      proxy: { enabled: true },
      watchSchema: { destination: 'hook', allObjects: { fieldCreated: { enabled: 'always' } } },
    },
  ],
};

/** Every place in the value, as the keys that lead there. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => placesIn(child, [...path, key]))];
}

function withChange(path: string[], change: (parent: Record<string, unknown>, key: string) => void): unknown {
  const root = { root: structuredClone(sound) } as Record<string, unknown>;
  const full = ['root', ...path];
  const parent = full
    .slice(0, -1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
  change(parent as Record<string, unknown>, full.at(-1)!);
  return root['root'];
}

describe('src/projects/manifest/check-shape', () => {
  it('finds nothing in a sound manifest', () => {
    expect(paths(sound)).toEqual([]);
    expect(names(sound)).toEqual([]);
  });

  it('finds the same faults as Ajv when any one place is changed, taken away or added to', () => {
    const wrong = fc.constantFrom<unknown>(
      null,
      1,
      0.5,
      -1,
      500,
      true,
      '',
      'x',
      'x'.repeat(300),
      'a b',
      [],
      {},
      [1],
      ['x'],
      { x: 1 },
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...placesIn(sound)),
        fc.constantFrom('set', 'remove', 'add'),
        wrong,
        (path, kind, value) => {
          fc.pre(kind !== 'remove' || (path.length > 0 && !/^\d+$/.test(path.at(-1)!)));
          const changed = withChange(path, (parent, key) => {
            const place = parent[key];
            if (kind === 'set') parent[key] = value;
            else if (kind === 'remove') delete parent[key];
            else if (typeof place === 'object' && place !== null && !Array.isArray(place))
              Object.assign(place, { unheardOf: value });
          });
          expect(paths(changed)).toEqual(names(changed));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
