import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { Failure } from '../../../providers/index.ts';
import { attemptWrite } from './attempt.ts';
import { creates } from './attempt-cases.fixture.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

describe('src/actions/write/resent: a create that is sent again and refused', () => {
  let sim: Simulated;
  const objectName = 'Contact';

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
    const lost: Failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true };
    // The first call is done right after the look that comes before the second.
    const data = [{ object: objectName, records: Array.from({ length: made }, () => fields) }];
    await sim.control('POST', '/hooks', { method: 'GET', path: '/query', after: 1, data });
    const body = [{ errorCode, message: 'it is there' }];
    const fault = { kind: 'status', status: 400, body };
    await sim.fault({ method: 'POST', path: `/sobjects/${objectName}`, fault });
    const { result, effects } = await sim.during(() =>
      attemptWrite(
        {
          kind: 'create',
          mode: 'asynchronous',
          objectName,
          allOrNone: false,
          headers: [],
        },
        { acceptedAt, records: [{ fields }], earlier: new Map([[0, lost]]) },
        sim.context(objectName),
      ),
    );
    expect(result).toMatchObject([{ kind }]);
    expect(creates(effects)).toBe(made);
  });
});
