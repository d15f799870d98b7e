import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHubspot } from '../../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { Failure, ProviderClient, RecordOutcome } from '../../../providers/index.ts';
import { attemptsAt, cases, creates, failureOf } from './attempt-cases.fixture.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

function idOf(outcome: RecordOutcome | undefined): string {
  if (outcome?.kind !== 'applied' || outcome.recordId === undefined) throw new Error('not applied');
  return outcome.recordId;
}

const simulators = { hubspot: startHubspot, salesforce: startSalesforce };

describe.each(cases)('src/actions/write/attempt-batch: $provider', (at) => {
  let sim: Simulated;

  beforeAll(async () => {
    sim = await startSimulated(at.provider, simulators[at.provider], 400);
  });
  afterEach(async () => {
    await sim.control('DELETE', '/faults');
  });
  afterAll(() => sim.close());

  const { fresh, attempt, noKey } = attemptsAt(at, () => sim);

  test('all or none: one record that is found tells of the others, and none is sent again', async () => {
    const records = [fresh(), noKey(), fresh()];
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt(records, { job: { allOrNone: true } }));
    expect(result).toMatchObject([
      { kind: 'applied', lookedUpBy: at.key },
      { kind: 'applied' },
      { kind: 'applied', lookedUpBy: at.key },
    ]);
    expect(creates(effects)).toBe(3);
  });

  test('all or none: what never came is sent again as one call, also the record without a key', async () => {
    const records = [noKey(), fresh(), fresh()];
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-before' } });
    const allOrNone = { job: { allOrNone: true } };
    const first = await attempt(records, allOrNone);
    expect(first.map((one) => one.kind === 'unknown' && one.failure.pending)).toEqual([true, true, true]);
    const earlier = first.map((one, slot): [number, Failure] => [slot, failureOf([one])]);
    const { result, requests, effects } = await sim.during(() => attempt(records, { ...allOrNone, earlier }));
    expect(result.map(({ kind }) => kind)).toEqual(['applied', 'applied', 'applied']);
    expect(
      requests.filter(({ method, path }) => method === 'POST' && path.includes(at.batchPath)),
    ).toHaveLength(1);
    expect(creates(effects)).toBe(3);
  });

  test('all or none: a record that stands there already refuses the whole, also when the answer is lost', async () => {
    const old = fresh();
    await attempt([old]);
    await sim.control('POST', '/clock', { advanceMs: 60_000 });
    const records = [fresh(), old, noKey()];
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt(records, { job: { allOrNone: true } }));
    expect(result).toMatchObject(records.map(() => ({ kind: 'notApplied', failure: { retryable: false } })));
    expect(result[1]).toMatchObject({ failure: { existingRecordId: expect.any(String) } });
    expect(effects).toEqual([]);
  });

  test('all or none: an id that is not there keeps all back when a field is written only if it is empty', async () => {
    const [one, two] = await attempt([fresh(), fresh()]);
    const change = { [at.provider === 'hubspot' ? 'firstname' : 'LastName']: 'Grace' };
    const records: PlannedRecord[] = [
      { id: idOf(one), fields: change },
      { id: at.missingId, fields: change, ifEmpty: Object.keys(change) },
      { id: idOf(two), fields: change },
    ];
    const update = { kind: 'update', allOrNone: true } as const;
    const { result, effects } = await sim.during(() => attempt(records, { job: update }));
    expect(result).toMatchObject(
      records.map(() => ({ kind: 'notApplied', failure: { category: 'notFound', retryable: false } })),
    );
    expect(effects).toEqual([]);
  });

  test('of a lost batch each record is settled: done, refused, in conflict, without a key', async () => {
    const old = fresh();
    await attempt([old]);
    await sim.control('POST', '/clock', { advanceMs: 60_000 });
    const done = [fresh(), fresh()];
    const records = [done[0], at.bad('bad'), old, noKey(), done[1]] as PlannedRecord[];
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt(records));
    expect(result.map(({ kind }) => kind)).toEqual([
      'applied',
      'unknown',
      'notApplied',
      'unknown',
      'applied',
    ]);
    expect(result[1]).toMatchObject({ failure: { pending: true, lookedUpBy: at.key } });
    expect(result[3]).not.toHaveProperty('failure.pending');
    expect(result[2]).toMatchObject({ failure: { category: 'conflict' } });
    expect(creates(effects)).toBe(3);
    const ids = effects.filter(({ kind }) => kind === 'create').map(({ id }) => id);
    expect(ids).toContain((result[0] as { recordId: string }).recordId);
    expect(ids).toContain((result[4] as { recordId: string }).recordId);
  });

  test('one record that stands there is not taken for two', async () => {
    const record = fresh();
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt([record, { ...record }]));
    expect(result.map(({ kind }) => kind).sort()).toEqual(['applied', 'notApplied']);
    expect(creates(effects)).toBe(1);
  });

  test('a batch that is refused as a whole for one record is divided until the culprit stands alone', async () => {
    const records = Array.from({ length: 20 }, (_, n) => fresh(n === 13 ? 'Poison' : `P${n}`));
    const refusal =
      at.provider === 'hubspot'
        ? { status: 'error', category: 'VALIDATION_ERROR', message: 'one of them is bad' }
        : [{ errorCode: 'JSON_PARSER_ERROR', message: 'one of them is bad' }];
    await sim.fault({
      contains: 'Poison',
      times: 100,
      fault: { kind: 'status', status: 400, body: refusal },
    });
    const { result, requests, effects } = await sim.during(() => attempt(records));
    expect(requests.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(20)));
    expect(creates(effects)).toBe(19);
    result.forEach((outcome, n) =>
      expect(outcome).toMatchObject(
        n === 13
          ? { kind: 'notApplied', failure: { category: 'validation', retryable: false } }
          : { kind: 'applied' },
      ),
    );
  });

  test.each(['update', 'upsert'] as const)(
    '§2.5 what an earlier record of the batch filled is not empty for a later one: %s',
    async (kind) => {
      const [field, name] =
        at.provider === 'hubspot' ? (['jobtitle', 'firstname'] as const) : (['Title', 'LastName'] as const);
      const one = fresh();
      const key = String(one.fields[at.key]);
      const id = kind === 'update' ? idOf((await attempt([one]))[0]) : undefined;
      const change = (value: string, more = {}, as = id): PlannedRecord => {
        const fields = { ...(as === undefined ? one.fields : {}), [field]: value, ...more };
        const planned = { fields, ifEmpty: [field] };
        return as === undefined ? { key, fields, onUpdate: planned } : { id: as, ...planned };
      };
      const records = [
        change('Refused', { nosuch: 1 }),
        change('First'),
        change('Second', { [name]: 'Grace' }, at.provider === 'salesforce' ? id?.slice(0, 15) : id),
        change('Third'),
      ];
      const job = { kind, ...(kind === 'upsert' ? { upsertBy: at.key } : {}) };
      const { result, effects } = await sim.during(() => attempt(records, { job }));
      expect(result.map((outcome) => outcome.kind)).toEqual(['notApplied', 'applied', 'applied', 'applied']);
      const written = effects.flatMap(({ fields }) => fields?.[field] ?? []);
      expect(written).toEqual(['First']);
      expect(effects.flatMap(({ fields }) => fields?.[name] ?? [])).toContain('Grace');
    },
  );

  test.each([[true], [false]])(
    'a change waits for an earlier one of its record that could not be looked at (looked at itself: %s)',
    async (isConditional) => {
      const id = idOf((await attempt([fresh()]))[0]);
      const [field, path] =
        at.provider === 'hubspot' ? ['jobtitle', '/batch/read'] : ['Title', '/composite/sobjects'];
      await sim.fault({ method: 'POST', path, fault: { kind: 'status', status: 503, body: {} } });
      const [first, second] = ['First', 'Second'].map((value) => ({ id, fields: { [field]: value } }));
      const records = [
        { ...first!, ifEmpty: [field] },
        { ...second!, ...(isConditional ? { ifEmpty: [field] } : {}) },
      ];
      const { result, effects } = await sim.during(() => attempt(records, { job: { kind: 'update' } }));
      expect(effects).toEqual([]);
      expect(result).toMatchObject(records.map(() => ({ kind: 'notApplied', failure: { retryable: true } })));
    },
  );

  test.each(['update', 'upsert'] as const)(
    'a look whose answer is too large to be read is made of fewer records: %s',
    async (kind) => {
      const field = at.provider === 'hubspot' ? 'jobtitle' : 'Title';
      const made = Array.from({ length: 4 }, () => fresh());
      const ids = (await attempt(made)).map(idOf);
      const records = made.map((one, n): PlannedRecord => {
        const fields = { ...(kind === 'update' ? {} : one.fields), [field]: 'Any' };
        const ifEmpty = [field];
        return kind === 'update'
          ? { id: ids[n]!, fields, ifEmpty }
          : { key: String(one.fields[at.key]), fields, onUpdate: { fields, ifEmpty } };
      });
      let large = 2;
      const client: ProviderClient = {
        async send(request) {
          large -= 1;
          if (large >= 0) return { fault: { kind: 'tooLarge', sent: true, message: 'too large' } };
          return sim.client.send(request);
        },
      };
      const job = { kind, ...(kind === 'upsert' ? { upsertBy: at.key } : {}) };
      const { result, requests } = await sim.during(() => attempt(records, { job, context: { client } }));
      expect(result).toMatchObject(ids.map((recordId) => ({ kind: 'applied', recordId })));
      // What describes the object is known before, as a rule.
      expect(requests.filter(({ path }) => !/describe|properties|schemas/.test(path))).toHaveLength(4);
    },
  );
});
