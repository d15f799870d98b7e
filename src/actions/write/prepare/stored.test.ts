import { describe, expect, it } from 'vitest';
import type { Target } from '../../../installations/index.ts';
import type { WorkContext } from '../../../lanes/index.ts';
import type { WorkItem } from '../../../operations/index.ts';
import type { WritePlan } from './plan.ts';
import { intakeOf } from './prepare.ts';
import { keptOf, senderOf } from '../send/send.ts';
import { storedWriteOf } from './stored.ts';
import type { WriteDeps } from '../writes.ts';

const plan: WritePlan = {
  kind: 'create',
  mode: 'asynchronous',
  form: 'batch',
  objectName: 'contacts',
  records: [
    {
      fields: { email: 'ada@example.com', score: 1, tags: ['a'], note: null },
      associations: [
        { to: { id: '7' }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 1 }] },
      ],
      reference: 'r1',
    },
    { id: '8', fields: {}, ifEmpty: ['phone'] },
  ],
  allOrNone: true,
  partialOnly: false,
  headers: [{ key: 'x-trace', value: '1' }],
  deadlineSeconds: 3_600,
  onUnknown: 'retry',
};
const target = { installationId: 'i', connectionId: 'c', provider: 'hubspot', groupRef: 'g' } as Target;

/** As the ledger gives it back. */
function itemOf(request: unknown, records: readonly unknown[]): WorkItem {
  const kept = { request, records: records.map((payload, index) => ({ index, payload })) };
  const { request: read, records: loaded } = JSON.parse(JSON.stringify(kept)) as WorkItem;
  const item: Partial<WorkItem> = {
    request: read,
    records: loaded,
    acceptedAt: 5,
    earlier: new Map(),
    attempt: 1,
  };
  return item as WorkItem;
}

describe('write/stored', () => {
  it('reads of an operation what was planned', () => {
    const { request, records } = intakeOf({ target, plan }, { requestId: 'r' });
    const { write, given } = keptOf(itemOf(request, records));
    const { kind, mode, form, objectName, allOrNone, headers, onUnknown } = plan;
    const sent = { kind, mode, form, objectName, allOrNone, headers, onUnknown };
    expect(write).toMatchObject({ ...sent, provider: 'hubspot', connectionId: 'c' });
    expect(given).toEqual({ acceptedAt: 5, records: plan.records, earlier: new Map() });
  });

  it('says what of an operation is no write', () => {
    const { request } = intakeOf({ target, plan }, { requestId: 'r' });
    expect(() => storedWriteOf({ ...request, kind: 'merge' })).toThrow(
      /^What is kept of the write cannot be read: \/kind/,
    );
  });

  it.each([
    ['its write', itemOf({ type: 'create' }, plan.records)],
    ['a record', itemOf(intakeOf({ target, plan }, { requestId: 'r' }).request, [{ fields: 'none' }])],
  ])('ends unsent what is queued when %s cannot be read', async (_what, item) => {
    // Nobody is asked for anything.
    const result = await senderOf({} as WriteDeps).send(item, {} as WorkContext);
    expect(result).toMatchObject({ kind: 'outcomes', outcomes: item.records.map(() => unsent) });
  });

  const unsent = { kind: 'notApplied', failure: { category: 'internal', retryable: false } };
});
