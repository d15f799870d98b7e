import { describe, expect, it } from 'vitest';
import { planResolution, type Known } from './resolve.ts';

const failure = { category: 'unknownOutcome', retryable: false, message: 'lost' } as const;
const unknown = (slot: number): Known => ({ slot, outcome: { kind: 'unknown', failure }, resolution: null });

describe('operations/resolve of a batch with empty places', () => {
  const records: Known[] = [
    unknown(0),
    { slot: 2, outcome: { kind: 'applied', recordId: '7' }, resolution: null },
    unknown(4),
  ];
  const plan = (index: number) => planResolution({ records: [{ index, resolution: 'notApplied' }] }, records);

  it('takes a record by its place in the request', () => {
    expect(plan(4)).toEqual({ resolutions: [{ index: 4, resolution: 'notApplied' }] });
    expect(plan(2)).toMatchObject({
      refusal: { code: 'outcome-known', message: expect.any(String) as string },
    });
  });

  it.each([1, 3, 5])('refuses the place %i, which has no record, and says which have', (index) => {
    const detail = `there is no record ${index}: the operation has those from 0 to 4, without 1, 3`;
    expect(plan(index)).toMatchObject({
      refusal: { code: 'invalid-request', details: { issues: [{ name: 'records[0].index', detail }] } },
    });
  });

  it('refuses the records of an operation without any', () => {
    const planned = planResolution({ records: [{ index: 0, resolution: 'applied' }] }, []);
    expect(planned).toMatchObject({
      refusal: { details: { issues: [{ detail: 'the operation has no records' }] } },
    });
  });
});
