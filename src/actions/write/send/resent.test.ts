import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { Failure } from '../../../providers/index.ts';
import { attemptWrite, type AttemptJob } from './attempt.ts';
import { creates } from './attempt-cases.fixture.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

describe('src/actions/write/resent: a create that is sent again', () => {
  let sim: Simulated;
  const objectName = 'Contact';
  const create: AttemptJob = {
    kind: 'create',
    mode: 'asynchronous',
    objectName,
    allOrNone: false,
    headers: [],
  };
  const lost: Failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true };

  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce, 400);
  });
  afterAll(() => sim.close());

  test.each([
    ['applied', 'a rule of the account that keeps out a second one', 'FIELD_CUSTOM_VALIDATION_EXCEPTION', 1],
    ['unknown', 'a rule of the account, and is not seen', 'FIELD_CUSTOM_VALIDATION_EXCEPTION', 0],
    ['notApplied', 'Salesforce for a mistake of its own', 'REQUIRED_FIELD_MISSING', 0],
  ] as const)('is %s where it was refused by %s', async (kind, _what, errorCode, made) => {
    const fields = { External_Id__c: `resent-${kind}`, LastName: 'Ada' };
    const acceptedAt = Date.now();
    // The first call is done right after the look that comes before the second.
    const data = [{ object: objectName, records: Array.from({ length: made }, () => fields) }];
    await sim.control('POST', '/hooks', { method: 'GET', path: '/query', after: 1, data });
    const body = [{ errorCode, message: 'it is there' }];
    const fault = { kind: 'status', status: 400, body };
    await sim.fault({ method: 'POST', path: `/sobjects/${objectName}`, fault });
    const { result, effects } = await sim.during(() =>
      attemptWrite(
        create,
        { acceptedAt, records: [{ fields }], earlier: new Map([[0, lost]]) },
        sim.context(objectName),
      ),
    );
    expect(result).toMatchObject([{ kind }]);
    expect(creates(effects)).toBe(made);
  });

  test('is found where its answer is lost, too, and the first call made it, which could not be looked for', async () => {
    const fields = { External_Id__c: 'resent-unseen', LastName: 'Ada' };
    // The earlier call was made a minute ago.
    const acceptedAt = Date.now() - 65_000;
    await sim.control('POST', '/clock', { shiftMs: -60_000 });
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: objectName,
      records: [fields],
    });
    await sim.control('POST', '/clock', { shiftMs: 0 });
    const body = [{ errorCode: 'INSUFFICIENT_ACCESS', message: 'not now' }];
    await sim.fault({ method: 'GET', path: '/query', fault: { kind: 'status', status: 403, body } });
    await sim.fault({ method: 'POST', path: `/sobjects/${objectName}`, fault: { kind: 'reset-after' } });
    const job: AttemptJob = { ...create, onUnknown: 'retry' };
    const earlier = new Map([[0, lost]]);
    const { result, effects } = await sim.during(() =>
      attemptWrite(job, { acceptedAt, records: [{ fields }], earlier }, sim.context(objectName)),
    );
    expect(creates(effects)).toBe(0);
    expect(result).toMatchObject([{ kind: 'applied', recordId: ids[0] }]);
  });
});
