import type { SpecSection } from '../spec-coverage/item.ts';
import { journey, write } from './tests.ts';

export const writeRequestSection: SpecSection = {
  title: '2.6 Write request body',
  items: [
    {
      id: '2.6/groupRef',
      says: 'Whose installation is written to.',
      accepts: write.shape('§2.6 groupRef: a text'),
      refuses: journey.writeRefusals(
        '§2.6 groupRef missing',
        '§2.6 groupRef empty',
        'a group without an installation',
      ),
    },
    {
      id: '2.6/type',
      says: 'create, update or delete.',
      accepts: [
        ...write.shape('§2.6 type: create', '§2.6 type: update', '§2.6 type: delete'),
        ...journey.write('§4.2.1 an update changes the record that id names'),
      ],
      refuses: journey.writeRefusals('§2.6 type missing', '§2.6 type unknown'),
    },
    {
      id: '2.6/mode',
      says: 'synchronous or asynchronous; not used for a delete.',
      accepts: [
        ...write.shape('§2.6 mode: synchronous', '§2.6 mode: asynchronous'),
        ...write.plan('§2.6 mode: defaults to synchronous; a delete is always synchronous'),
      ],
      refuses: journey.writeRefusals('§2.6 mode unknown'),
    },
    {
      id: '2.6/record',
      says: 'Provider field names to values.',
      accepts: [
        ...write.shape('§2.6 record: any field names and values'),
        ...journey.write('numbers arrive as they were sent'),
      ],
      refuses: journey.writeRefusals('§2.6 record no object', '§2.6 neither record nor batch'),
    },
    {
      id: '2.6/record.id',
      says: 'The provider’s record id, for an update and a delete.',
      accepts: [
        ...journey.write('§4.2.1 an update changes the record that id names'),
        ...write.plan('§4.2.1 create, update and delete are planned with what each needs'),
      ],
      refuses: journey.writeRefusals(
        '§4.2.1 an update without id',
        '§4.2.1 an update with an empty id',
        '§4.2.1 a delete without id',
        '§4.2.1 a delete with more than the id',
      ),
    },
    {
      id: '2.6/batch',
      says: '1 to 100 items with a record and, optionally, associations, instead of record.',
      accepts: [
        ...write.shape(
          '§2.6, §8 batch: one item',
          '§2.6, §8 batch: 100 items',
          '§2.6 batch: an item with associations',
        ),
        ...journey.batch('§4.2.2, §8 a batch of 100 is one call'),
      ],
      refuses: journey.writeRefusals(
        '§2.6, §8 batch empty',
        '§2.6, §8 batch of 101',
        '§2.6 an item without record',
        '§2.6, §4.2.2 record and batch',
      ),
    },
    {
      id: '2.6/associations',
      says: 'to.id, and types with associationCategory and associationTypeId.',
      accepts: [
        ...write.shape('§2.6 associations: to and types'),
        ...journey.write('§4.2.3, §2.6 a HubSpot create makes its associations'),
      ],
      refuses: [
        ...journey.writeRefusals(
          '§2.6 an association without types',
          '§2.6 an association without an id',
          '§2.6 an associationTypeId that is text',
        ),
        ...write.shape('§2.6 associations: a type without a category'),
      ],
    },
    {
      id: '2.6/headers',
      says: 'key and value, forwarded to the provider.',
      accepts: journey.write(
        '§4.2.3, §2.6 headers are forwarded to Salesforce, on create, update and delete',
      ),
      refuses: journey.writeRefusals(
        '§2.6 a header without value',
        '§2.6 a header that carries credentials',
        '§2.6 a header with a line break',
      ),
    },
    {
      id: '2.6/batchPolicy',
      says: 'allOrNone, a boolean.',
      accepts: write.shape('§2.6 batchPolicy: allOrNone is'),
      refuses: journey.writeRefusals('§2.6 allOrNone no boolean', '§2.6 batchPolicy without a batch'),
    },
    {
      id: '2.6/autoBatchPolicy',
      says: 'maxDelayMinutes and retryDeadlineHours.',
      accepts: write.plan('§4.2.6 autoBatchPolicy: the delay, and a deadline of its own'),
      refuses: journey.writeRefusals(
        '§4.2.6 autoBatchPolicy with a batch',
        '§4.2.6 autoBatchPolicy with a delete',
        '§4.2.6 autoBatchPolicy in synchronous mode',
        '§2.6, §8 autoBatchPolicy without maxDelayMinutes',
      ),
    },
    {
      id: '2.6/retryPolicy',
      says: 'deadlineHours, at most 48, for asynchronous writes.',
      accepts: [
        ...write.shape('§2.6, §8 retryPolicy: 1 hour', '§2.6, §8 retryPolicy: 48 hours'),
        ...write.plan('§4.2.5 retryPolicy: the deadline is one hour unless the request says otherwise'),
      ],
      refuses: journey.writeRefusals(
        '§2.6, §8 deadlineHours over 48',
        '§2.6, §8 deadlineHours under 1',
        '§2.6 deadlineHours no integer',
        '§4.2.5 retryPolicy in synchronous mode',
      ),
    },
    {
      id: '2.6/unknown',
      says: 'Nothing else: an unknown member is refused, never dropped.',
      accepts: write.shape('§2.6 groupRef: a text'),
      refuses: [
        ...journey.writeRefusals('an unknown property'),
        ...write.shape('§2.6 an unknown member', '§2.6 batch: an unknown member of an item'),
      ],
    },
  ],
};
