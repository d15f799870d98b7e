import { describe, expect, it } from 'vitest';
import { compileCheck } from '../../kit/http/validation.ts';
import { WriteRequest } from './schema.ts';

const check = compileCheck(WriteRequest);
const association = {
  to: { id: '1' },
  types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }],
};
const create = { groupRef: 'acme', type: 'create', record: { email: 'a@b.co' } };
const items = (count: number): object[] => Array.from({ length: count }, (_, n) => ({ record: { n } }));
const batchOf = (batch: unknown, more: object = {}): object => ({
  groupRef: 'acme',
  type: 'create',
  batch,
  ...more,
});
const linkedTo = (...associations: unknown[]): object => ({ ...create, associations });
const gathering = (autoBatchPolicy: unknown): object => ({
  ...create,
  mode: 'asynchronous',
  autoBatchPolicy,
});
const hours = (deadlineHours: unknown): object => ({
  ...create,
  mode: 'asynchronous',
  retryPolicy: { deadlineHours },
});

describe('src/actions/write/schema', () => {
  it.each<[string, object]>([
    ['§2.6 groupRef: a text', create],
    ['§2.6 type: create', create],
    ['§2.6 type: update', { ...create, type: 'update', record: { id: '7' } }],
    ['§2.6 type: delete', { ...create, type: 'delete', record: { id: '7' } }],
    ['§2.6 mode: synchronous', { ...create, mode: 'synchronous' }],
    ['§2.6 mode: asynchronous', { ...create, mode: 'asynchronous' }],
    ['§2.6 record: any field names and values', { ...create, record: { a: null, 'b c': [{ d: 1 }] } }],
    ['§2.6, §8 batch: one item', batchOf(items(1))],
    ['§2.6, §8 batch: 100 items', batchOf(items(100))],
    ['§2.6 batch: an item with associations', batchOf([{ record: {}, associations: [association] }])],
    ['§2.6 associations: to and types', linkedTo(association, association)],
    ['§2.6 headers: key and value', { ...create, headers: [{ key: 'Sforce-Mru', value: '' }] }],
    ['§2.6 batchPolicy: allOrNone', batchOf(items(2), { batchPolicy: { allOrNone: true } })],
    ['§2.6, §8 autoBatchPolicy: 1 minute', gathering({ maxDelayMinutes: 1 })],
    ['§2.6, §8 autoBatchPolicy: 1440 minutes', gathering({ maxDelayMinutes: 1440, retryDeadlineHours: 1 })],
    ['§2.6, §8 autoBatchPolicy: 48 hours', gathering({ maxDelayMinutes: 5, retryDeadlineHours: 48 })],
    ['§2.6, §8 retryPolicy: 1 hour', hours(1)],
    ['§2.6, §8 retryPolicy: 48 hours', hours(48)],
  ])('%s is well-formed', (_title, body) => {
    expect(check(body, 'body').issues).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['§2.6 groupRef: none', { ...create, groupRef: undefined }, 'groupRef'],
    ['§2.6 groupRef: empty', { ...create, groupRef: '' }, 'groupRef'],
    ['§2.6 groupRef: no text', { ...create, groupRef: 7 }, 'groupRef'],
    ['§2.6 type: none', { ...create, type: undefined }, 'type'],
    ['§2.6 type: another value', { ...create, type: 'replace' }, 'type'],
    ['§2.6 mode: another value', { ...create, mode: 'async' }, 'mode'],
    ['§2.6 record: no object', { ...create, record: [] }, 'record'],
    ['§2.6, §8 batch: no item', batchOf([]), 'batch'],
    ['§2.6, §8 batch: 101 items', batchOf(items(101)), 'batch'],
    ['§2.6 batch: no list', batchOf({}), 'batch'],
    ['§2.6 batch: an item without record', batchOf([{ record: {} }, {}]), 'batch[1].record'],
    ['§2.6 batch: an unknown member of an item', batchOf([{ record: {}, id: '7' }]), 'batch[0].id'],
    ['§2.6 associations: without to', linkedTo({ types: association.types }), 'associations[0].to'],
    [
      '§2.6 associations: an id that is no text',
      linkedTo({ ...association, to: { id: 1 } }),
      'associations[0].to.id',
    ],
    ['§2.6 associations: without types', linkedTo({ to: association.to }), 'associations[0].types'],
    [
      '§2.6 associations: a type without a category',
      linkedTo({ ...association, types: [{ associationTypeId: 279 }] }),
      'associations[0].types[0].associationCategory',
    ],
    [
      '§2.6 associations: a type id that is no integer',
      linkedTo({ ...association, types: [{ associationCategory: 'C', associationTypeId: '279' }] }),
      'associations[0].types[0].associationTypeId',
    ],
    ['§2.6 headers: no list', { ...create, headers: { 'Sforce-Mru': 'x' } }, 'headers'],
    ['§2.6 headers: without key', { ...create, headers: [{ value: 'x' }] }, 'headers[0].key'],
    [
      '§2.6 headers: a value that is no text',
      { ...create, headers: [{ key: 'a', value: 1 }] },
      'headers[0].value',
    ],
    [
      '§2.6 batchPolicy: allOrNone that is no boolean',
      batchOf(items(1), { batchPolicy: { allOrNone: 'yes' } }),
      'batchPolicy.allOrNone',
    ],
    ['§2.6 autoBatchPolicy: no delay', gathering({}), 'autoBatchPolicy.maxDelayMinutes'],
    [
      '§2.6 autoBatchPolicy: a minute and a half',
      gathering({ maxDelayMinutes: 1.5 }),
      'autoBatchPolicy.maxDelayMinutes',
    ],
    [
      '§2.6 autoBatchPolicy: an unknown member',
      gathering({ maxDelayMinutes: 1, size: 5 }),
      'autoBatchPolicy.size',
    ],
    ['§2.6, §8 retryPolicy: 49 hours', hours(49), 'retryPolicy.deadlineHours'],
    ['§2.6, §8 retryPolicy: no hour', hours(0), 'retryPolicy.deadlineHours'],
    ['§2.6, §8 retryPolicy: an hour and a half', hours(1.5), 'retryPolicy.deadlineHours'],
    ['§2.6 an unknown member', { ...create, records: [] }, 'records'],
  ])('%s is refused by its path', (_title, body, name) => {
    expect(check(body, 'body').issues.map((issue) => issue.name)).toEqual([name]);
  });
});
