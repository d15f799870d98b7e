import type { SpecSection } from '../spec-coverage/item.ts';
import { installation, journey, manifest, operation, write } from './tests.ts';

const throttle = 'the throttle mode of the proxy';

export const errorsSection: SpecSection = {
  title: '7 Errors',
  items: [
    {
      id: '7.1/synchronous',
      says: 'A failed synchronous write is answered with an error.',
      accepts: [
        ...write.answer(
          '§7.1 a single write that the provider refused answers 422 with the reason',
          '§7.1 a failure of category %s is a problem with the operation',
        ),
        ...journey.failures('§7.1 a throttled synchronous write is 429 with the time to come back'),
      ],
      refuses: journey.write(
        'a provider’s refusal of a record is answered 422 with its reason and an operation',
      ),
    },
    {
      id: '7.2/asynchronous',
      says: 'A failed asynchronous write ends its operation with failure and a text result.',
      accepts: journey.failures(
        '§4.2.5, §7.2, §3 after the deadline a retried write is a failure with a text result',
        '§4.2.5 a provider that is down is tried again, too; a refusal is not',
      ),
      refuses: 'nothing to refuse: it says how a failure is told',
    },
    {
      id: '7.3/backfill',
      says: 'days is needed without fullHistory, fullHistory without days.',
      accepts: installation.check('§7.3 backfill: accepts %j'),
      refuses: [
        ...journey.config(
          '§2.4, §7.3 defaultPeriod: neither days nor fullHistory',
          '§2.4 defaultPeriod.days: below 0',
          '§2.4 defaultPeriod.days: no integer',
        ),
        ...installation.create('§7.3 backfill: neither days nor fullHistory is refused with its path'),
      ],
    },
    {
      id: '7.3/objectName',
      says: 'Required on every object config, read and write.',
      accepts: journey.config('§2.4 disabled is accepted', '§2.5 each kind of default is accepted'),
      refuses: installation.create('§7.3 objectName, fieldName and operator are required'),
    },
    {
      id: '7.3/filter',
      says: 'fieldName and operator are required on filters.',
      accepts: journey.config('§2.4 filters with a text, a boolean and a number'),
      refuses: journey.config('§2.4, §7.3 filter: without fieldName', '§2.4, §7.3 filter: without operator'),
    },
    {
      id: '7.4/delete',
      says: 'A delete of an object whose deletion is not enabled is refused.',
      accepts: write.plan('§2.5 §7.4 a delete is refused unless deletionSettings.enabled is true'),
      refuses: journey.writeRefusals(
        '§4.2.1, §7.4 a delete that the config does not enable',
        '§7.4 a delete of an object that is not in the config',
      ),
    },
    {
      id: '7.5/retry-after',
      says: 'In throttle mode a 429 carries X-Svc-Retry-After, a UTC time.',
      accepts: [],
      refuses: [],
      later: throttle,
    },
    {
      id: '7.5/retryable',
      says: 'And X-Svc-Retryable, false when the provider locked the token out.',
      accepts: [],
      refuses: [],
      later: throttle,
    },
    {
      id: '7.5/hold-back',
      says: 'A request before the retry time is not passed to the provider.',
      accepts: [],
      refuses: [],
      later: throttle,
    },
  ],
};

export const limitsSection: SpecSection = {
  title: '8 Limits',
  items: [
    {
      id: '8/batch',
      says: '1 to 100 records in a batch.',
      accepts: [
        ...write.shape('§2.6, §8 batch: one item', '§2.6, §8 batch: 100 items'),
        ...journey.batch('§4.2.2, §8 a batch of 100 is one call'),
      ],
      refuses: journey.writeRefusals('§2.6, §8 batch empty', '§2.6, §8 batch of 101'),
    },
    {
      id: '8/auto-batch/size',
      says: 'An automatic batch goes at 100 records.',
      accepts: journey.autoBatch('§4.2.6, §8 100 requests spread over two nodes are one batch'),
      refuses: operation.autoBatch('never puts more than 100 records into a batch, and none into two'),
    },
    {
      id: '8/auto-batch/maxDelayMinutes',
      says: '1 to 1440, required.',
      accepts: write.shape('§2.6, §8 autoBatchPolicy: 1 minute', '§2.6, §8 autoBatchPolicy: 1440 minutes'),
      refuses: journey.writeRefusals(
        '§2.6, §8 autoBatchPolicy without maxDelayMinutes',
        '§2.6, §8 maxDelayMinutes under 1',
        '§2.6, §8 maxDelayMinutes over 1440',
      ),
    },
    {
      id: '8/auto-batch/retryDeadlineHours',
      says: 'Default 1, at most 48.',
      accepts: [
        ...write.plan('§4.2.6 autoBatchPolicy: the delay, and a deadline of its own'),
        ...write.shape('§2.6, §8 autoBatchPolicy: 48 hours'),
        ...journey.autoBatch('§4.2.6, §8 retries of a batch end at retryDeadlineHours'),
      ],
      refuses: journey.writeRefusals(
        '§2.6, §8 retryDeadlineHours over 48',
        '§2.6, §8 retryDeadlineHours under 1',
      ),
    },
    {
      id: '8/retryPolicy.deadlineHours',
      says: 'Default 1 hour, at most 48.',
      accepts: [
        ...write.shape('§2.6, §8 retryPolicy: 48 hours'),
        ...journey.failures('§4.2.5, §8 without a retryPolicy the deadline is one hour, with it up to 48'),
      ],
      refuses: [
        ...journey.writeRefusals('§2.6, §8 deadlineHours over 48'),
        ...write.shape('§2.6, §8 retryPolicy: 49 hours'),
      ],
    },
    {
      id: '8/delete',
      says: 'A single record, synchronously.',
      accepts: journey.write('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only'),
      refuses: journey.writeRefusals('§4.2.1, §8 a delete of a batch'),
    },
  ],
};

export const versioningSection: SpecSection = {
  title: '9 Versioning',
  items: [
    {
      id: '9/v1',
      says: 'Management and write paths carry v1.',
      accepts: journey.spec('§9 management is under /v1 and writing under /write/v1'),
      refuses: journey.spec('§9 a path without its version, or of another one, does not exist'),
    },
    {
      id: '9/specVersion',
      says: 'specVersion of the manifest and the version of the API description are 1.0.0.',
      accepts: [
        ...journey.deploy('§2.1 a manifest with every key of the specification is deployed'),
        ...journey.spec('§9 the API description is OpenAPI 3.1 of version 1.0.0'),
      ],
      refuses: [
        ...journey.deploy('§2.1, §9 refuses another specVersion'),
        ...manifest.validate('refuses a version that YAML reads as a number'),
      ],
    },
    {
      id: '9/x-svc-proxy-version',
      says: 'Proxy calls send 1.',
      accepts: journey.targets('§4.6 the installation id selects the target'),
      refuses: journey.targets('§4.6, §9 x-svc-proxy-version is required and always 1'),
    },
    {
      id: '9/config.revisionId',
      says: 'Deprecated; the latest revision is set by itself.',
      accepts: journey.install('§2.2 config.revisionId is accepted, ignored and named deprecated'),
      refuses: 'nothing to refuse: whatever it says is ignored',
    },
  ],
};
