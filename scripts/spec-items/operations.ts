import type { SpecItem, SpecSection } from '../spec-coverage/item.ts';
import { journey, operation } from './tests.ts';

const answer = 'nothing to refuse: it is an answer';
const record = [
  ...journey.operations('§4.3, §2.7 an operation is looked up by its id'),
  ...operation.routes('§4.3 an operation is answered with the fields of §2.7'),
];

const field = (name: string, says: string, more: string[] = []): SpecItem => ({
  id: `2.7/${name}`,
  says,
  accepts: [...record, ...more],
  refuses: answer,
});

export const operationRecordSection: SpecSection = {
  title: '2.7 Operation record',
  items: [
    field('id', 'Operation id.'),
    field('projectId', 'Project id.'),
    field('integrationId', 'Integration id.'),
    field('installationId', 'Installation id.'),
    field('configId', 'Config id: of the config that the write was accepted with.'),
    field('actionType', '“write” for writes.'),
    field('status', 'in_progress, success or failure.'),
    field('result', 'A text that starts with the object in brackets.', [
      ...operation.ledger('fails what cannot be done, with the category first'),
      ...journey.failures(
        '§4.2.5, §7.2, §3 after the deadline a retried write is a failure with a text result',
      ),
    ]),
    field('createTime', 'ISO 8601 in UTC with fractional seconds.'),
    field('updateTime', 'In the same form.'),
    field('resource', 'The object that the operation concerns.'),
  ],
};

export const statesSection: SpecSection = {
  title: '3 States and transitions',
  items: [
    {
      id: '3/in_progress',
      says: 'An asynchronous write that runs or is retried.',
      accepts: journey.failures(
        '§4.2.5, §8 without a retryPolicy the deadline is one hour, with it up to 48',
      ),
      refuses: 'nothing to refuse: it is a state',
    },
    {
      id: '3/in_progress/auto-batch',
      says: 'An automatic batch that gathers records or is executed.',
      accepts: journey.autoBatch('§3, §4.3 the master operation is in progress while it gathers'),
      refuses: 'nothing to refuse: it is a state',
    },
    {
      id: '3/success',
      says: 'The write is done; a batch also when it is done in part.',
      accepts: [
        ...operation.ledger('carries queued work to its end and tells about it'),
        ...journey.batch('§4.2.2 a batch is partial by default'),
      ],
      refuses: journey.batch('§4.2.2, §2.6 with allOrNone one bad record fails the whole batch'),
    },
    {
      id: '3/failure',
      says: 'The write is not done; a retried one after its deadline.',
      accepts: journey.failures(
        '§4.2.5, §7.2, §3 after the deadline a retried write is a failure with a text result',
        '§4.2.5 a provider that is down is tried again, too; a refusal is not',
      ),
      refuses: operation.worker('fails without sending what is past its deadline'),
    },
    {
      id: '3/transitions',
      says: 'A status only moves from in_progress to success or failure.',
      accepts: operation.ledger('tries again what may be tried again, and only those records'),
      refuses: operation.lanes(
        'refuses the record of a holder whose items were rescued, and takes that of the rescuer',
      ),
    },
    {
      id: '3/unknown',
      says: 'What became of a record may be unknown: it is then a failure of its own kind.',
      accepts: journey.failures('a create whose answer is lost is called unknown and is not sent again'),
      refuses: operation.step('repeats an unknown outcome only where a repetition leaves the same state'),
      later: 'resolving unknown outcomes',
    },
  ],
};
