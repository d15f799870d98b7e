import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startHubspot } from '../../../../simulator/hubspot/index.ts';
import type { RecordOutcome } from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { attemptsAt, cases } from './attempt-cases.fixture.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

const recordIdOf = (outcome: RecordOutcome | undefined): string =>
  outcome?.kind === 'applied' ? String(outcome.recordId) : 'not applied';

describe('src/actions/write/send/merged', () => {
  let sim: Simulated;
  /** Two ids that lead to one record, and a third record. */
  let one: string;
  let other: string;
  let third: string;
  let into: string;
  /** Of the first, of the other and of the third. */
  let addresses: [string, string, string];

  const { fresh, attempt } = attemptsAt(cases[0]!, () => sim);
  const update = (records: PlannedRecord[], allOrNone = false) =>
    sim.during(() => attempt(records, { job: { kind: 'update', allOrNone } }));

  beforeAll(async () => {
    sim = await startSimulated('hubspot', startHubspot, 400);
  });
  beforeEach(async () => {
    const made = [fresh(), fresh(), fresh()];
    addresses = made.map(({ fields }) => String(fields['email'])) as [string, string, string];
    const ids = (await attempt(made)).map(recordIdOf);
    [one, other, third] = ids as [string, string, string];
    const body = { primaryObjectId: one, objectIdToMerge: other };
    const merged = await sim.client.send({ method: 'POST', path: '/crm/v3/objects/contacts/merge', body });
    if (!('answer' in merged)) throw new Error('not merged');
    into = (JSON.parse(merged.answer.body) as { id: string }).id;
  });
  afterEach(() => sim.control('DELETE', '/faults'));
  afterAll(() => sim.close());

  const title = (id: string, jobtitle: string, more = {}): PlannedRecord => ({
    id,
    fields: { jobtitle, ...more },
    ifEmpty: ['jobtitle'],
  });
  const named = (id: string, firstname: string): PlannedRecord => ({ id, fields: { firstname } });

  test('what an update by one former id filled is not empty for one by the other', async () => {
    const records = [title(one, 'First'), title(third, 'Third'), title(other, 'Second', { city: 'Bern' })];
    const { result, effects } = await update(records);
    expect(result.map(recordIdOf)).toEqual([into, third, into]);
    expect(effects.map(({ id, fields }) => [id, fields])).toEqual([
      [into, { jobtitle: 'First' }],
      [third, { jobtitle: 'Third' }],
      [into, { city: 'Bern' }],
    ]);
  });

  test.each([
    ['first', () => [title(one, 'First', { firstname: 'Ada' }), named(other, 'Grace')]],
    ['last', () => [named(one, 'Ada'), title(other, 'Second', { firstname: 'Grace' })]],
    ['by the new id', () => [named(into, 'Ada'), title(other, 'Second', { firstname: 'Grace' })]],
  ])(
    'go one after the other in calls of their own, of which one is looked at: %s',
    async (_which, records) => {
      const { result, requests, effects } = await update(records());
      expect(result.map(recordIdOf)).toEqual([into, into]);
      expect(effects.map(({ fields }) => fields?.['firstname'])).toEqual(['Ada', 'Grace']);
      expect(requests.filter(({ path }) => path.endsWith('/batch/update'))).toEqual([]);
    },
  );

  test.each([
    ['looked at', () => [title(one, 'First'), title(other, 'Second')]],
    ['not looked at', () => [title(one, 'First'), named(other, 'Grace')]],
  ])('the later change, %s itself, waits where the earlier one is unsettled', async (_what, records) => {
    await sim.fault({ method: 'PATCH', path: '/objects/contacts/', fault: { kind: 'status', status: 521 } });
    const { result, effects } = await update(records());
    expect(result).toMatchObject([1, 2].map(() => ({ kind: 'notApplied', failure: { retryable: true } })));
    expect(effects).toEqual([]);
  });

  test.each([
    ['both are looked at', () => [title(one, 'First'), title(other, 'Second'), named(third, 'Ada')]],
    ['one is looked at', () => [title(one, 'First'), named(other, 'Grace'), named(third, 'Ada')]],
  ])('all or none: two ids of one record are refused, and nothing is sent: %s', async (_what, records) => {
    const { result, effects } = await update(records(), true);
    expect(result).toMatchObject(
      [1, 2, 3].map(() => ({ kind: 'notApplied', failure: { category: 'validation', retryable: false } })),
    );
    expect(effects).toEqual([]);
  });

  describe('upserts by two addresses of one contact', () => {
    const upsert = (records: PlannedRecord[], allOrNone = false) =>
      sim.during(() => attempt(records, { job: { kind: 'upsert', upsertBy: 'email', allOrNone } }));
    /** The record by the address of this place, with a field that is written only where it is empty. */
    const titled = (at: number, jobtitle: string, more = {}): PlannedRecord => {
      const { fields } = plain(at, { jobtitle, ...more });
      return { key: String(fields['email']), fields, onUpdate: { fields, ifEmpty: ['jobtitle'] } };
    };
    const plain = (at: number, fields: Record<string, unknown>): PlannedRecord => {
      const email = String(addresses[at]);
      return { key: email, fields: { email, ...fields } };
    };

    test('what the first filled is not empty for the other', async () => {
      const records = [titled(0, 'First'), titled(2, 'Third'), titled(1, 'Second', { city: 'Bern' })];
      const { result, effects } = await upsert(records);
      expect(result.map(recordIdOf)).toEqual([into, third, into]);
      expect(effects.map(({ id, fields }) => [id, fields])).toEqual([
        [into, { jobtitle: 'First' }],
        [third, { jobtitle: 'Third' }],
        [into, { city: 'Bern' }],
      ]);
    });

    test.each([
      ['first', () => [titled(0, 'First', { city: 'Bern' }), plain(1, { city: 'Basel' })]],
      ['last', () => [plain(0, { city: 'Bern' }), titled(1, 'Second', { city: 'Basel' })]],
    ])(
      'go one after the other in calls of their own, of which one is looked at: %s',
      async (_which, records) => {
        const { result, requests, effects } = await upsert(records());
        expect(result.map(recordIdOf)).toEqual([into, into]);
        expect(effects.map(({ fields }) => fields?.['city'])).toEqual(['Bern', 'Basel']);
        expect(requests.filter(({ path }) => path.endsWith('/batch/upsert'))).toHaveLength(2);
      },
    );

    test('the later one waits where the earlier one is unsettled', async () => {
      await sim.fault({ method: 'POST', path: '/batch/upsert', fault: { kind: 'status', status: 521 } });
      const { result, effects } = await upsert([titled(0, 'First'), titled(1, 'Second')]);
      expect(result).toMatchObject([1, 2].map(() => ({ kind: 'notApplied', failure: { retryable: true } })));
      expect(effects).toEqual([]);
    });

    test('all or none: they are refused, and nothing is sent', async () => {
      const { result, effects } = await upsert(
        [titled(0, 'First'), titled(1, 'Second'), titled(2, 'T')],
        true,
      );
      expect(result).toMatchObject(
        [1, 2, 3].map(() => ({ kind: 'notApplied', failure: { category: 'validation', retryable: false } })),
      );
      expect(effects).toEqual([]);
    });

    test('a value that is written as the id of a record is not taken for that record', async () => {
      const property = { name: 'ext', label: 'Ext', type: 'string', fieldType: 'text', hasUniqueValue: true };
      const body = { ...property, groupName: 'contactinformation' };
      await sim.client.send({ method: 'POST', path: '/crm/v3/properties/contacts', body });
      const keyed = (ext: string): PlannedRecord => {
        const fields = { ext, jobtitle: 'T' };
        return { key: ext, fields, onUpdate: { fields, ifEmpty: ['jobtitle'] } };
      };
      const job = { kind: 'upsert', upsertBy: 'ext', allOrNone: true } as const;
      const [made] = await attempt([keyed('of an id')], { job });
      const result = await attempt([keyed('of an id'), keyed(recordIdOf(made))], { job });
      expect(result).toMatchObject([{ created: false }, { created: true }]);
    });
  });
});
