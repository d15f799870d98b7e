import { expect, test } from 'vitest';
import { faultOfId } from './record-id.ts';

test.each([
  ['update', {}, "is required for an update: the provider's record id"],
  [
    'update',
    { Id: '003', LastName: 'x' },
    "is required for an update: the provider's record id; it is called `id`, not `Id`",
  ],
  ['delete', { ID: '1' }, "is required for a delete: the provider's record id; it is called `id`, not `ID`"],
  ['delete', { id: '1', Id: '2' }, undefined],
] as const)('actions/write/prepare/record-id: of %s %j it says: %s', (type, record, fault) => {
  expect(faultOfId(type, record)).toBe(fault);
});
