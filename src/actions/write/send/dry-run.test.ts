import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  oneof,
  option,
  record,
  string,
  subarray,
  type Arbitrary,
} from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHubspot } from '../../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import { abilitiesOf } from '../../../providers/index.ts';
import { attemptWrite } from './attempt.ts';
import { dryRun } from './dry-run.ts';
import type { FieldRules } from '../prepare/fields.ts';
import { planWrite, type WriteScope } from '../prepare/plan.ts';
import type { WriteRequest } from '../schema.ts';
import { startSimulated, type Simulated, type StartSimulator } from './simulated.fixture.ts';

interface Case {
  provider: 'hubspot' | 'salesforce';
  start: StartSimulator;
  object: string;
  fields: string[];
  conditional: string;
  seed(n: number): Record<string, unknown>;
  missing: string;
  options: Arbitrary<Partial<WriteRequest>>;
}

const link = { to: { id: '1' }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }] };
const cases: Case[] = [
  {
    provider: 'hubspot',
    start: startHubspot,
    object: 'contacts',
    fields: ['email', 'firstname', 'lastname', 'nosuch', 'mapped'],
    conditional: 'jobtitle',
    seed: (n) => ({ properties: { email: `dry${n}@example.com` } }),
    missing: '999999999',
    options: constant({}),
  },
  {
    provider: 'salesforce',
    start: startSalesforce,
    object: 'Contact',
    fields: ['Email', 'FirstName', 'LastName', 'Nope', 'mapped'],
    conditional: 'Title',
    seed: (n) => ({ LastName: `Dry${n}` }),
    missing: '003000000000000AAA',
    options: record({
      headers: constant([{ key: 'Sforce-Duplicate-Rule-Header', value: 'allowSave=true' }]),
    }),
  },
];

/** One write in either form; `ids` stand for records by their place in a list that is made for each run. */
function requests(at: Case): Arbitrary<{ request: WriteRequest; ids: (number | string)[] }> {
  const value = oneof(string({ maxLength: 8 }), integer(), boolean(), constant(null), constant('é\u2028"\\'));
  const fields = dictionary(constantFrom(...at.fields, at.conditional), value, { maxKeys: 5 });
  const id = oneof({ weight: 6, arbitrary: integer({ min: 0, max: 3 }) }, constantFrom('a/../b', ' '));
  const item = record({ fields, id, linked: boolean() });
  return record({
    type: constantFrom('create', 'update', 'delete'),
    batched: boolean(),
    items: array(item, { minLength: 1, maxLength: 12 }),
    allOrNone: option(boolean(), { nil: undefined }),
    more: at.options,
  }).map(({ type, batched, items, allOrNone, more }) => {
    const isBatch = batched && type !== 'delete';
    const linksOf = (linked: boolean) =>
      linked && type === 'create' && at.provider === 'hubspot' ? { associations: [link] } : {};
    const recordOf = (one: (typeof items)[number]) => (type === 'delete' ? {} : one.fields);
    const [first] = items;
    const form = isBatch
      ? {
          batch: items.map((one) => ({ record: recordOf(one), ...linksOf(one.linked) })),
          ...(allOrNone === undefined ? {} : { batchPolicy: { allOrNone } }),
        }
      : { record: recordOf(first!), ...linksOf(first!.linked) };
    const request = { groupRef: 'g', type, ...form, ...more } as WriteRequest;
    return { request, ids: items.map((one) => one.id) };
  });
}

const rules: Arbitrary<FieldRules> = record({
  mapped: boolean(),
  ifEmpty: boolean(),
  never: subarray(['FirstName', 'firstname']),
}).map(({ ifEmpty, never }) => ({
  settings: {
    ...(ifEmpty
      ? { jobtitle: { writeOnUpdate: 'ifEmpty' as const }, Title: { writeOnUpdate: 'ifEmpty' as const } }
      : {}),
    ...Object.fromEntries(never.map((name) => [name, { writeOnCreate: 'never' as const }])),
  },
  valueDefaults: {},
  mappings: {},
  unsetMappings: ['mapped'],
}));

describe.each(cases)('src/actions/write/dry-run: $provider', (at) => {
  let sim: Simulated;
  let count = 0;

  beforeAll(async () => {
    sim = await startSimulated(at.provider, at.start);
  });
  afterAll(() => sim.close());

  async function seeded(): Promise<string[]> {
    const records = Array.from({ length: 4 }, () => at.seed(++count));
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', { object: at.object, records });
    return ids;
  }

  function withIds({ request, ids }: { request: WriteRequest; ids: (number | string)[] }, known: string[]) {
    if (request.type === 'create') return request;
    const named = (fields: Record<string, unknown>, slot: number) => {
      const id = ids[slot] ?? 0;
      const { [at.conditional]: _conditional, ...others } = fields;
      // What an earlier record leaves of it is known by reading only.
      const own = ids.indexOf(id) < slot ? others : fields;
      return { ...own, id: typeof id === 'number' ? known[id] : id };
    };
    return request.batch
      ? { ...request, batch: request.batch.map((one, slot) => ({ ...one, record: named(one.record, slot) })) }
      : { ...request, record: named(request.record ?? {}, 0) };
  }

  test('the plan that is printed is the plan that is executed', async () => {
    const seen = { calls: 0, batches: 0, reads: 0, refused: 0, planned: 0 };
    await assert(
      asyncProperty(requests(at), rules, async (generated, given) => {
        const scope: WriteScope = {
          objectName: at.object,
          provider: at.provider,
          abilities: abilitiesOf(at.provider),
          deletionEnabled: true,
          rules: given,
          limits: { recordBytes: 10_000, nesting: 10 },
        };
        const planned = planWrite(withIds(generated, await seeded()), scope);
        if ('refusal' in planned) return;
        const { plan } = planned;
        const printed = dryRun(plan, at.provider);
        const { result, requests: received } = await sim.during(() =>
          attemptWrite(
            plan,
            { acceptedAt: Date.now(), records: plan.records, earlier: new Map() },
            sim.context(at.object),
          ),
        );
        expect(received.map(({ method, path, body }) => ({ method, path, body }))).toEqual(
          printed.calls.map(({ method, path, body }) => ({
            method,
            path,
            body: body === undefined ? '' : JSON.stringify(body),
          })),
        );
        printed.calls.forEach(({ headers = {} }, n) => expect(received[n]?.headers).toMatchObject(headers));
        for (const { index, category } of printed.refused ?? [])
          expect(result[index]).toMatchObject({ kind: 'notApplied', failure: { category } });
        seen.planned += 1;
        seen.calls += printed.calls.length;
        seen.refused += printed.refused?.length ?? 0;
        seen.batches += received.filter(({ body }) => /"(inputs|records)"/.test(body)).length;
        seen.reads += received.filter(({ path }) =>
          /batch\/read|composite\/sobjects\/Contact/.test(path),
        ).length;
      }),
      { numRuns: 200 },
    );
    expect(seen.planned).toBeGreaterThanOrEqual(100);
    expect(Math.min(seen.calls, seen.batches, seen.reads, seen.refused)).toBeGreaterThan(0);
  }, 60_000);

  const planOf = (request: Partial<WriteRequest>, given: Partial<FieldRules>) => {
    const planned = planWrite(
      { groupRef: 'g', type: 'update', ...request },
      {
        objectName: at.object,
        provider: at.provider,
        abilities: abilitiesOf(at.provider),
        deletionEnabled: true,
        rules: { settings: {}, valueDefaults: {}, mappings: {}, unsetMappings: [], ...given },
        limits: { recordBytes: 10_000, nesting: 10 },
      },
    );
    if ('refusal' in planned) throw new Error(planned.refusal.message);
    return planned.plan;
  };

  test('§2.5 a record that stands twice is looked at before each change', () => {
    const batch = ['First', 'Second'].map((value) => ({
      record: { id: at.missing, [at.conditional]: value },
    }));
    const plan = planOf({ batch }, { settings: { [at.conditional]: { writeOnUpdate: 'ifEmpty' } } });
    const methods = dryRun(plan, at.provider).calls.map(({ method }) => method);
    expect(methods).toEqual(['POST', 'PATCH', 'POST', 'PATCH']);
  });

  test('an update that leaves nothing to write shows no call', () => {
    const plan = planOf({ record: { id: at.missing, phone: '1' } }, { unsetMappings: ['phone'] });
    expect(dryRun(plan, at.provider).calls).toEqual([]);
  });
});
