import type { SpecItem, SpecSection } from '../spec-coverage/item.ts';
import { journey, operation, provider, write } from './tests.ts';

const done = '§4.2.1, §4.2.4 a synchronous create returns the record';
const queued = '§4.2.5 an asynchronous write answers operationId at once';
const retried = '§4.2.5 a throttled asynchronous write is retried until it succeeds';
const expired = '§4.2.5, §7.2, §3 after the deadline a retried write is a failure with a text result';

const endpoint: SpecItem[] = [
  {
    id: '4.2/path',
    says: 'POST …/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}.',
    accepts: [
      ...journey.write(done),
      ...journey.spec('§4.1, §4.2, §4.3 a project and an integration go by id and by name'),
    ],
    refuses: journey.writeRefusals(
      'an integration that does not write, an unknown one and an unknown project are refused',
      'a group without an installation',
    ),
  },
  {
    id: '4.2/objectName',
    says: 'An object that the manifest declares for writing.',
    accepts: journey.write(done),
    refuses: journey.writeRefusals('§4.2 an object that the manifest does not declare'),
  },
  {
    id: '4.2/objectName/exists',
    says: 'It exists in the customer’s SaaS.',
    accepts: journey.write(done),
    refuses: [
      ...journey.spec('§2.1, §4.2 an object that the provider does not have is told by the write'),
      ...provider.connector('says that an object is not there, described, sampled or written'),
    ],
  },
  {
    id: '4.2/form',
    says: 'record for one, batch for several, never both.',
    accepts: [...journey.write(done), ...journey.batch('§4.2.2, §8 a batch of 100 is one call')],
    refuses: journey.writeRefusals('§2.6, §4.2.2 record and batch', '§2.6 neither record nor batch'),
  },
  {
    id: '4.2/response/synchronous',
    says: 'A synchronous single write answers the created or updated record.',
    accepts: [
      ...journey.write(done, '§4.2.1 an update changes the record that id names'),
      ...write.answer('§4.2 a single write that was done answers the record'),
    ],
    refuses: journey.write(
      'a provider’s refusal of a record is answered 422 with its reason and an operation',
    ),
  },
  {
    id: '4.2/response/asynchronous',
    says: 'An asynchronous write answers operationId at once, after the request is checked.',
    accepts: journey.write(queued),
    refuses: journey.write('§4.2.5 an asynchronous update is validated first, then done'),
  },
  {
    id: '4.2/response/failure',
    says: 'A failed synchronous write answers an error.',
    accepts: journey.failures(
      '§7.1 a throttled synchronous write is 429 with the time to come back and its operation',
      '§7.1 a provider that is down is 502, retryable, with the operation',
    ),
    refuses: journey.write(
      'a provider’s refusal of a record is answered 422 with its reason and an operation',
    ),
  },
  {
    id: '4.2/response/other',
    says: 'Not shown: a delete answers the id; a batch answers each record in order.',
    accepts: write.answer(
      '§4.2 a delete that was done answers the id alone',
      '§4.2.2 a batch with one record done is a partial success, in the order of the request',
    ),
    refuses: write.answer('§4.2.2 a batch of which nothing was done answers 422 with the same body'),
  },
];

const kinds: SpecItem[] = [
  {
    id: '4.2.1/create',
    says: 'type create, with the field values in record.',
    accepts: journey.write(done),
    refuses: journey.write(
      'a provider’s refusal of a record is answered 422 with its reason and an operation',
    ),
  },
  {
    id: '4.2.1/update',
    says: 'type update, with id in record.',
    accepts: journey.write('§4.2.1 an update changes the record that id names'),
    refuses: journey.writeRefusals('§4.2.1 an update without id', '§4.2.1 an update with an empty id'),
  },
  {
    id: '4.2.1/delete',
    says: 'type delete, with record.id only.',
    accepts: journey.write('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only'),
    refuses: journey.writeRefusals('§4.2.1 a delete without id', '§4.2.1 a delete with more than the id'),
  },
  {
    id: '4.2.1/delete/enabled',
    says: 'Only where the installation’s config enables deletion of the object.',
    accepts: journey.write('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only'),
    refuses: journey.writeRefusals(
      '§4.2.1, §7.4 a delete that the config does not enable',
      '§7.4 a delete of an object that is not in the config',
    ),
  },
  {
    id: '4.2.1/delete/form',
    says: 'Synchronous whatever mode says, and of a single record.',
    accepts: [
      ...journey.write('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only'),
      ...write.plan('§2.6 mode: defaults to synchronous; a delete is always synchronous'),
    ],
    refuses: journey.writeRefusals('§4.2.1, §8 a delete of a batch'),
  },
  {
    id: '4.2.2/partial',
    says: 'By default what succeeds of a batch is kept, whatever fails.',
    accepts: [
      ...journey.batch('§4.2.2 a batch is partial by default'),
      ...provider.connector(
        'tells the records of a batch apart, in the order of the call, when one of them is bad',
      ),
    ],
    refuses: journey.batch('§4.2.2, §2.6 with allOrNone one bad record fails the whole batch'),
  },
  {
    id: '4.2.2/allOrNone',
    says: 'With batchPolicy.allOrNone the batch fails when a record fails.',
    accepts: provider.connector('writes all of a batch with allOrNone, telling the records apart'),
    refuses: [
      ...journey.batch(
        '§4.2.2, §2.6 with allOrNone one bad record fails the whole batch',
        '§4.2.2 Salesforce: partial by default, all or none when asked',
      ),
      ...provider.connector('writes nothing of a batch with allOrNone when one record is bad'),
    ],
  },
  {
    id: '4.2.2/partial-only',
    says: 'Batch updates of HubSpot give partial success whatever allOrNone says.',
    accepts: [
      ...journey.batch('§4.2.2 a HubSpot batch update gives partial success'),
      ...write.answer(
        '§4.2.2 allOrNone where the provider always gives partial success is answered with a warning',
      ),
    ],
    refuses: 'nothing to refuse: allOrNone has no effect there',
  },
  {
    id: '4.2.2/modes',
    says: 'A batch is written in both modes.',
    accepts: journey.batch(
      '§4.2.2, §8 a batch of 100 is one call',
      '§4.2.2, §3 an asynchronous batch ends as success',
    ),
    refuses: journey.writeRefusals('§2.6 mode unknown'),
  },
  {
    id: '4.2.2/associations',
    says: 'Items of a create may have associations of their own.',
    accepts: journey.batch('§4.2.2 a batch create makes each item’s associations'),
    refuses: journey.writeRefusals('§2.6 associations beside a batch', '§2.6 associations on an update'),
  },
];

const support: SpecItem[] = [
  {
    id: '4.2.3/associations',
    says: 'For HubSpot only, single and batch.',
    accepts: [
      ...journey.write('§4.2.3, §2.6 a HubSpot create makes its associations'),
      ...journey.batch('§4.2.2 a batch create makes each item’s associations'),
    ],
    refuses: journey.writeRefusals(
      '§4.2.3 associations to Salesforce',
      '§4.2.3 associations in a batch to Salesforce',
    ),
  },
  {
    id: '4.2.3/headers',
    says: 'Forwarded to Salesforce only.',
    accepts: journey.write('§4.2.3, §2.6 headers are forwarded to Salesforce, on create, update and delete'),
    refuses: journey.writeRefusals('§4.2.3 headers to HubSpot'),
  },
  {
    id: '4.2.3/batch',
    says: 'For HubSpot and Salesforce.',
    accepts: journey.batch('§4.2.2, §8 a batch of 100 is one call'),
    refuses: write.plan('§4.2.3 batch write: only where the provider supports it'),
  },
  {
    id: '4.2.3/delete',
    says: 'For HubSpot and Salesforce.',
    accepts: journey.write('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only'),
    refuses: write.plan('§4.2.3 delete: only where the provider supports it'),
  },
  {
    id: '4.2.3/ifEmpty',
    says: 'For HubSpot and Salesforce.',
    accepts: journey.fields('§4.2.3, §2.5 ifEmpty writes only where the record has no value'),
    refuses: write.plan('§4.2.3 ifEmpty: an update is refused where the provider cannot read first'),
  },
];

const modes: SpecItem[] = [
  {
    id: '4.2.4/synchronous',
    says: 'Processed at once; the call returns when it is done.',
    accepts: journey.write(done),
    refuses: journey.failures('§7.1 a provider that is down is 502, retryable, with the operation'),
  },
  {
    id: '4.2.5/background',
    says: 'The call returns operationId; the work goes on in the background.',
    accepts: journey.write(queued),
    refuses: journey.write('§4.2.5 an asynchronous update is validated first, then done'),
  },
  {
    id: '4.2.5/retry',
    says: 'Failures that may pass, such as quotas, are retried with exponential backoff.',
    accepts: [
      ...journey.failures(retried),
      ...operation.step('waits twice as long after each attempt, by a part that is drawn'),
    ],
    refuses: [
      ...journey.failures('§4.2.5 a provider that is down is tried again, too; a refusal is not'),
      ...operation.step('finishes when nothing may be tried again'),
    ],
  },
  {
    id: '4.2.5/deadline',
    says: 'Until the deadline: one hour, or retryPolicy.deadlineHours up to 48.',
    accepts: [
      ...journey.failures(
        '§4.2.5, §8 without a retryPolicy the deadline is one hour, with it up to 48',
        expired,
      ),
      ...operation.worker('ends retries at the deadline, whose clock does not start anew with an attempt'),
    ],
    refuses: journey.writeRefusals('§2.6, §8 deadlineHours over 48'),
  },
  {
    id: '4.2.5/mode',
    says: 'retryPolicy is for asynchronous mode only.',
    accepts: write.plan('§4.2.5 retryPolicy: the deadline is one hour unless the request says otherwise'),
    refuses: journey.writeRefusals('§4.2.5 retryPolicy in synchronous mode'),
  },
  {
    id: '4.2.6/auto-batch',
    says: 'Single asynchronous writes of one installation, object and type are gathered into a batch.',
    accepts: [
      ...journey.autoBatch('§4.2.6, §8 100 requests spread over two nodes are one batch'),
      ...operation.autoBatch(
        'keeps apart what differs in installation, object, type, connection or forwarded headers',
      ),
    ],
    refuses: journey.writeRefusals(
      '§4.2.6 autoBatchPolicy with a batch',
      '§4.2.6 autoBatchPolicy with a delete',
      '§4.2.6 autoBatchPolicy in synchronous mode',
    ),
  },
  {
    id: '4.2.6/triggers',
    says: 'It is executed at 100 records or at the delay of its first record, whichever is first.',
    accepts: [
      ...journey.autoBatch(
        '§4.2.6, §8 100 requests spread over two nodes are one batch',
        '§4.2.6 a batch leaves at the delay of its first record',
      ),
      ...operation.autoBatch('puts what arrives around the deadline into the old batch or a new one'),
    ],
    refuses: operation.autoBatch('never puts more than 100 records into a batch, and none into two'),
  },
  {
    id: '4.2.6/operationId',
    says: 'operationId names the batch’s master operation.',
    accepts: journey.autoBatch(
      '§4.2.6, §8 100 requests spread over two nodes are one batch',
      '§3, §4.3 the master operation is in progress while it gathers',
    ),
    refuses: 'nothing to refuse: it is an answer',
  },
  {
    id: '4.2.7/defaults',
    says: 'Defaults fill fields that are missing from the request.',
    accepts: journey.fields('§4.2.7, §2.5 defaults fill what the request lacks, each kind of value'),
    refuses: write.fields('§2.5 a default obeys the policy of its field'),
  },
  {
    id: '4.2.8/inheritMapping',
    says: 'With inheritMapping the write goes to the field that the customer mapped.',
    accepts: [
      ...journey.fields('§4.2.8, §2.1 with inheritMapping a mapped name goes to the customer’s field'),
      ...write.fields('§4.2.8 inheritMapping: writes to the field the customer mapped'),
    ],
    refuses: write.plan('§4.2.8 refuses a record that gives one provider field two values'),
  },
  {
    id: '4.2.8/unmapped',
    says: 'Dropping unmapped fields is the operator’s to switch on, not the API’s.',
    accepts: journey.fields('§4.2.8, §2.1 with inheritMapping a mapped name goes to the customer’s field'),
    refuses: journey.writeRefusals('an unknown property'),
    later: 'the operator’s switch; unmapped fields are always sent today',
  },
];

export const writeCallSections: SpecSection[] = [
  { title: '4.2 Write records', items: endpoint },
  { title: '4.2 Write records, rules 1 and 2', items: kinds },
  { title: '4.2 Write records, rule 3', items: support },
  { title: '4.2 Write records, rules 4 to 8', items: modes },
];
