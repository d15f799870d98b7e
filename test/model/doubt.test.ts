import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { sleep } from '../../src/kit/retry.ts';
import { createTestDatabase } from '../database.ts';
import {
  arrive,
  createDoubtWorld,
  elapse,
  endOfDoubt,
  sealSometime,
  type Arrival,
  type DoubtWorld,
} from './doubt-world.ts';
import { openLateStatements, type Loss } from './lossy-gatherer.ts';

type Step =
  | ({ do: 'arrive' } & Arrival)
  | { do: 'seal' }
  | { do: 'let late ones go' }
  | { do: 'elapse'; ms: number }
  | { do: 'pass'; ms: number };

const loss = fc.constantFrom<Loss>('lost', 'late', 'late', 'never');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      node: fc.constantFrom<0 | 1>(0, 1),
      header: fc.constantFrom('a', 'b'),
      record: fc.constantFrom(1, 2),
      key: fc.option(fc.constantFrom('k', 'l'), { nil: undefined, freq: 2 }),
      losses: fc.array(loss, { maxLength: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'let late ones go' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'seal' }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('elapse' as const), ms: fc.constantFrom(2_500, 61_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(30, 350) }) },
);

async function run(world: DoubtWorld, step: Step): Promise<void> {
  if (step.do === 'arrive') return arrive(world, step);
  if (step.do === 'seal') return sealSometime(world);
  if (step.do === 'let late ones go') return world.late.letGo();
  return step.do === 'elapse' ? elapse(world, step.ms) : sleep(step.ms);
}

const change = { do: 'arrive', node: 0, header: 'a', record: 1, key: undefined, losses: [] } as const;

/** A change of the record that came meanwhile, with other headers, keeps the repetition of the first out. */
const keptOut: Step[] = [
  { ...change, losses: ['late'] },
  { do: 'pass', ms: 30 },
  { ...change, node: 1, header: 'b' },
  { do: 'pass', ms: 350 },
  { do: 'let late ones go' },
];

const runs = Number(process.env['MODEL_RUNS'] ?? 20_000);

// Histories mostly wait, so some go on beside each other.
describe.concurrent('test/model/doubt', () => {
  it.for([1, 2, 3, 4, 5])(
    'tells the truth of every record in 30 histories of lost answers and late statements (%i)',
    { timeout: 240_000 },
    async (_, { expect, onTestFinished }) => {
      const test = await createTestDatabase();
      const late = await openLateStatements(test);
      onTestFinished(async () => {
        await late.close();
        await test.drop();
      });
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 14, size: 'max' }), async (history) => {
          const world = createDoubtWorld(test, late);
          for (const step of history) await run(world, step);
          expect(await endOfDoubt(world)).toEqual([]);
        }),
        { numRuns: Math.ceil(runs * 0.0015), examples: [[keptOut]] },
      );
    },
  );
});
