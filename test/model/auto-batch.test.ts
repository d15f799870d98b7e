import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  batchKeyOf,
  placesOf,
  requestsOf,
  type Entry,
  type Range,
} from '../../src/actions/write/auto-batch/places.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import {
  arrive,
  createBatchWorld,
  dieGathering,
  endOf,
  fill,
  moveClock,
  sealDue,
  takePlaces,
  type BatchWorld,
} from './auto-batch-world.ts';

type Step =
  | { do: 'arrive'; node: 0 | 1; object: string; count: number; delay: number }
  | { do: 'take places' | 'fill' | 'fill, answer lost' | 'die'; node: 0 | 1 }
  | { do: 'seal' }
  | { do: 'elapse'; ms: number };

const node = fc.constantFrom<0 | 1>(0, 1);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      node,
      object: fc.constantFrom('contacts', 'companies'),
      count: fc.constantFrom(1, 3, 60, 100, 128),
      delay: fc.constantFrom(60, 600),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take places' as const), node }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('fill' as const), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fill, answer lost' as const), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), node }) },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'seal' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('elapse' as const),
      ms: fc.constantFrom(2_500, 11_000, 61_000, 601_000),
    }),
  },
);

async function run(world: BatchWorld, step: Step): Promise<void> {
  if (step.do === 'seal') return sealDue(world);
  if (step.do === 'elapse') return moveClock(world, step.ms);
  const at = world.nodes[step.node];
  if (step.do === 'arrive') return arrive(world, at, step.object, step.count, step.delay);
  if (step.do === 'take places') return takePlaces(world, at);
  if (step.do === 'die') return dieGathering(at);
  return fill(world, at, step.do === 'fill, answer lost');
}

/** A full batch behind one whose places are handed out but not yet filled: rarely met by chance. */
const fullBehindUnfilled: Step[] = [
  { do: 'arrive', node: 1, object: 'contacts', count: 100, delay: 60 },
  { do: 'arrive', node: 0, object: 'contacts', count: 128, delay: 60 },
  { do: 'take places', node: 1 },
  { do: 'take places', node: 0 },
  { do: 'fill', node: 0 },
  { do: 'seal' },
  { do: 'elapse', ms: 2_500 },
  { do: 'seal' },
  { do: 'fill', node: 1 },
];

/** A batch that leaves soon has changes of records that stand in one that leaves late; then the other way round. */
const acrossKeys: Step[] = [
  { do: 'arrive', node: 0, object: 'contacts', count: 60, delay: 600 },
  { do: 'take places', node: 0 },
  { do: 'fill', node: 0 },
  { do: 'arrive', node: 1, object: 'companies', count: 3, delay: 60 },
  { do: 'take places', node: 1 },
  { do: 'fill', node: 1 },
  { do: 'arrive', node: 0, object: 'contacts', count: 3, delay: 600 },
  { do: 'take places', node: 0 },
  { do: 'fill', node: 0 },
  { do: 'elapse', ms: 61_000 },
  { do: 'seal' },
];

const runs = Number(process.env['MODEL_RUNS'] ?? 20_000);

describe('test/model/auto-batch', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 1 });
    await test.database.raw('SET synchronous_commit = off');
  });
  afterAll(() => test.drop());

  it('keeps every promise in 300 histories of places, fills and seals of two nodes in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 6, maxLength: 30, size: 'max' }), async (history) => {
        const world = createBatchWorld(test.database);
        for (const step of history) await run(world, step);
        expect(await endOf(world)).toEqual([]);
      }),
      { numRuns: Math.ceil(runs * 0.015), examples: [[fullBehindUnfilled], [acrossKeys]] },
    );
  }, 240_000);

  it('gives every entry of 20,000 groups one place, in the order of arrival, among those of its key', () => {
    const given = {
      integrationId: 'i',
      installationId: 'n',
      configId: 'c',
      laneId: 'l',
      actionType: 'write' as const,
    };
    const group = fc.array(fc.constantFrom('contacts', 'companies', 'deals'), { maxLength: 128 });
    fc.assert(
      fc.property(group, fc.nat(100), (objects, taken) => {
        const entries = objects.map((resource, at): Entry => {
          const one = { ...given, projectId: 'p', resource, request: {}, record: {}, orderKey: null };
          const intake = { ...one, maxDelaySeconds: 60, deadlineSeconds: 60 };
          return { ...intake, id: String(at), batchKey: batchKeyOf(intake), payload: '' };
        });
        const wanted = requestsOf(entries, false);
        const ranges = wanted.flatMap((request, at) => rangesFrom(request.entries.length, taken, at + 1));
        const places = placesOf(wanted, ranges);
        expect(places.map(({ entry }) => Number(entry.id)).toSorted((a, b) => a - b)).toEqual([
          ...entries.keys(),
        ]);
        for (const members of Map.groupBy(places, (place) => place.batchId).values()) {
          expect(new Set(members.map(({ entry }) => entry.batchKey)).size).toBe(1);
          expect(new Set(members.map(({ slot }) => slot)).size).toBe(members.length);
          const ids = members.toSorted((a, b) => a.slot - b.slot).map(({ entry }) => Number(entry.id));
          expect(ids).toEqual(ids.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: runs },
    );
  }, 240_000);
});

/** As the database hands them out: the rest of the open batch first, then new ones of 100. */
function rangesFrom(count: number, taken: number, n: number): Range[] {
  const ranges: Range[] = [];
  let [left, slot] = [count, taken];
  while (left > 0) {
    if (slot >= 100) slot = 0;
    const places = Math.min(left, 100 - slot);
    ranges.push({ n, batchId: `${n}/${ranges.length}`, firstSlot: slot, places });
    [left, slot] = [left - places, slot + places];
  }
  return ranges;
}
