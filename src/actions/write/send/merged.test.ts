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

  const { fresh, attempt } = attemptsAt(cases[0]!, () => sim);
  const update = (records: PlannedRecord[], allOrNone = false) =>
    sim.during(() => attempt(records, { job: { kind: 'update', allOrNone } }));

  beforeAll(async () => {
    sim = await startSimulated('hubspot', startHubspot, 400);
  });
  beforeEach(async () => {
    const ids = (await attempt([fresh(), fresh(), fresh()])).map(recordIdOf);
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
});
