import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrg, type TestOrg, type Json } from '../test-client.ts';

let org: TestOrg;

beforeAll(async () => {
  org = await startOrg();
});
afterAll(() => org.close());

const contact = (fields: Record<string, unknown>): Record<string, unknown> => ({
  attributes: { type: 'Contact' },
  ...fields,
});
const countOf = async (object: string): Promise<number> =>
  (await org.api('GET', `/query?q=SELECT+COUNT()+FROM+${object}`)).body.totalSize as number;
const effects = async (since: number): Promise<Json[]> => (await org.sim(`effects?since=${since}`)).effects;
const lastEffect = async (): Promise<number> => (await effects(0)).at(-1)?.seq ?? 0;

describe('simulator/salesforce/api/collections', () => {
  it('answers 200 with one result per record, in order, statusCode inside the failed', async () => {
    const { status, body } = await org.api('POST', '/composite/sobjects', {
      records: [
        contact({ LastName: 'A' }),
        contact({}),
        contact({ LastName: 'B', Nope: 1 }),
        contact({ LastName: 'C' }),
      ],
    });
    expect(status).toBe(200);
    expect(body).toEqual([
      { id: expect.stringMatching(/^003/), success: true, errors: [] },
      {
        success: false,
        errors: [
          {
            statusCode: 'REQUIRED_FIELD_MISSING',
            message: 'Required fields are missing: [LastName]',
            fields: ['LastName'],
          },
        ],
      },
      { success: false, errors: [expect.objectContaining({ statusCode: 'INVALID_FIELD' })] },
      { id: expect.stringMatching(/^003/), success: true, errors: [] },
    ]);
  });

  it('takes everything back under allOrNone, still with 200, and the ledger shows no effect', async () => {
    const before = [await countOf('Contact'), await lastEffect()];
    const { status, body } = await org.api('POST', '/composite/sobjects', {
      allOrNone: true,
      records: [contact({ LastName: 'A' }), contact({}), contact({ LastName: 'C' })],
    });
    expect(status).toBe(200);
    expect(body.map((item: Json) => item.errors[0].statusCode)).toEqual([
      'ALL_OR_NONE_OPERATION_ROLLED_BACK',
      'REQUIRED_FIELD_MISSING',
      'ALL_OR_NONE_OPERATION_ROLLED_BACK',
    ]);
    expect([await countOf('Contact'), await lastEffect()]).toEqual(before);
  });

  it('updates by id; missing, repeated, foreign, unknown and deleted ids fail alone', async () => {
    const made = await org.api('POST', '/composite/sobjects', {
      records: [contact({ LastName: 'A' }), contact({ LastName: 'B' })],
    });
    const [a, b] = made.body.map((item: Json) => item.id);
    await org.api('DELETE', `/sobjects/Contact/${b}`);
    const { body } = await org.api('PATCH', '/composite/sobjects', {
      records: [
        contact({ id: a, Title: 'x' }),
        contact({ Title: 'x' }),
        contact({ id: a, Title: 'y' }),
        contact({ id: '001Hs1000000001', Title: 'x' }),
        contact({ id: '003Hs1000zzzzzz', Title: 'x' }),
        contact({ Id: b, Title: 'x' }),
      ],
    });
    expect(body.map((item: Json) => item.errors[0]?.statusCode ?? item.id)).toEqual([
      a,
      'MISSING_ARGUMENT',
      'DUPLICATE_VALUE',
      'MALFORMED_ID',
      'INVALID_CROSS_REFERENCE_KEY',
      'ENTITY_IS_DELETED',
    ]);
  });

  it('upserts many by external id and says which were created', async () => {
    const entry = (ExtId__c: string): Record<string, unknown> => ({
      attributes: { type: 'UpsertTable__c' },
      ExtId__c,
      Name: 'n',
    });
    await org.api('POST', '/sobjects/UpsertTable__c', { ExtId__c: 'two', Name: 'a' });
    await org.api('POST', '/sobjects/UpsertTable__c', { ExtId__c: 'two', Name: 'b' });
    const { body } = await org.api('PATCH', '/composite/sobjects/upserttable__c/extid__c', {
      records: [
        entry('seed-1'),
        entry('new'),
        entry('NEW'),
        entry('two'),
        { attributes: { type: 'UpsertTable__c' } },
      ],
    });
    expect(body.map((item: Json) => item.errors[0]?.statusCode ?? item.created)).toEqual([
      false,
      true,
      'DUPLICATE_VALUE',
      'DUPLICATE_EXTERNAL_ID',
      'MISSING_ARGUMENT',
    ]);
  });

  it('deletes many and retrieves many with null for what is missing', async () => {
    const made = await org.api('POST', '/composite/sobjects', {
      records: [contact({ LastName: 'A', DoNotCall: true }), contact({ LastName: 'B' })],
    });
    const [a, b] = made.body.map((item: Json) => item.id) as [string, string];
    const gone = await org.api('DELETE', `/composite/sobjects?ids=${b},zzz&allOrNone=true`);
    expect(gone.body.map((item: Json) => item.errors[0].statusCode)).toEqual([
      'ALL_OR_NONE_OPERATION_ROLLED_BACK',
      'MALFORMED_ID',
    ]);
    expect((await org.api('DELETE', `/composite/sobjects?ids=${b}`)).body).toEqual([
      { id: b, success: true, errors: [] },
    ]);
    const posted = await org.api('POST', '/composite/sobjects/Contact', {
      ids: [b, a.slice(0, 15)],
      fields: ['lastname', 'DoNotCall', 'Title'],
    });
    expect(posted.body).toEqual([
      null,
      {
        attributes: expect.objectContaining({ type: 'Contact' }),
        LastName: 'A',
        DoNotCall: true,
        Title: null,
        Id: a,
      },
    ]);
    const got = await org.api('GET', `/composite/sobjects/Contact?ids=${a}&fields=Id`);
    expect(got.body[0].Id).toBe(a);
    const bad = await org.api('POST', '/composite/sobjects/Contact', { ids: [a], fields: ['Nope'] });
    expect([bad.status, bad.body[0].errorCode]).toEqual([400, 'INVALID_FIELD']);
  });

  it.each([
    [{ records: Array.from({ length: 201 }, () => contact({ LastName: 'x' })) }, 'EXCEEDED_ID_LIMIT'],
    [{ records: [] }, 'REQUIRED_FIELD_MISSING'],
    [{ records: [{ LastName: 'x' }] }, 'JSON_PARSER_ERROR'],
    [{ records: [{ attributes: { type: 'Nope' } }] }, 'INVALID_TYPE'],
    [
      {
        records: Array.from({ length: 11 }, (_, i) => ({ attributes: { type: i % 2 ? 'Lead' : 'Contact' } })),
      },
      'EXCEEDED_ID_LIMIT',
    ],
    [{}, 'JSON_PARSER_ERROR'],
  ])('refuses the whole of %#', async (body, errorCode) => {
    const answer = await org.api('POST', '/composite/sobjects', body);
    expect([answer.status, answer.body[0].errorCode]).toEqual([400, errorCode]);
  });

  it('runs a composite with references, failed parts as error lists', async () => {
    const { body } = await org.api('POST', '/composite', {
      compositeRequest: [
        {
          method: 'POST',
          url: '/services/data/v60.0/sobjects/Account',
          referenceId: 'acc',
          body: { Name: 'Parent' },
        },
        {
          method: 'POST',
          url: '/services/data/v60.0/sobjects/Contact',
          referenceId: 'con',
          body: { LastName: 'Child', AccountId: '@{acc.id}' },
        },
        {
          method: 'GET',
          url: "/services/data/v60.0/query?q=SELECT+LastName+FROM+Contact+WHERE+AccountId='@{acc.id}'",
          referenceId: 'list',
        },
        { method: 'GET', url: '/services/data/v60.0/sobjects/Nope/describe', referenceId: 'bad' },
        { method: 'GET', url: '/services/data/v60.0/sobjects/Contact/@{bad.id}', referenceId: 'after' },
        { method: 'GET', url: '/services/data/v60.0/sobjects/Lead/describe', referenceId: 'Lead' },
      ],
    });
    const parts = body.compositeResponse;
    expect(parts.map((p: Json) => p.httpStatusCode)).toEqual([201, 201, 200, 404, 400, 200]);
    expect(parts[0].httpHeaders.Location).toContain('/sobjects/Account/001');
    expect(parts[2].body.records[0].LastName).toBe('Child');
    expect(parts[3].body).toEqual([
      { errorCode: 'NOT_FOUND', message: 'The requested resource does not exist' },
    ]);
    expect(parts[4].body[0].errorCode).toBe('PROCESSING_HALTED');
    expect(parts[5]).toMatchObject({ referenceId: 'Lead', body: { name: 'Lead' } });
  });

  it('rolls a composite back under allOrNone and refuses more than 25 parts', async () => {
    const before = await countOf('Account');
    const part = (i: number, Name?: string): Record<string, unknown> => ({
      method: 'POST',
      url: '/services/data/v60.0/sobjects/Account',
      referenceId: `r${i}`,
      body: { Name },
    });
    const { body } = await org.api('POST', '/composite', {
      allOrNone: true,
      compositeRequest: [part(1, 'x'), part(2)],
    });
    expect(body.compositeResponse.map((p: Json) => [p.httpStatusCode, p.body[0].errorCode])).toEqual([
      [400, 'PROCESSING_HALTED'],
      [400, 'REQUIRED_FIELD_MISSING'],
    ]);
    expect(await countOf('Account')).toBe(before);
    const many = { compositeRequest: Array.from({ length: 26 }, (_, i) => part(i, 'x')) };
    expect((await org.api('POST', '/composite', many)).status).toBe(400);
  });

  it('runs batches and trees', async () => {
    const batch = await org.api('POST', '/composite/batch', {
      haltOnError: true,
      batchRequests: [
        { method: 'GET', url: 'v60.0/limits' },
        { method: 'POST', url: 'v60.0/sobjects/Contact', richInput: {} },
        { method: 'GET', url: 'v60.0/limits' },
      ],
    });
    expect(batch.body.hasErrors).toBe(true);
    expect(batch.body.results.map((r: Json) => r.statusCode)).toEqual([200, 400, 412]);
    const tree = (LastName?: string): unknown => ({
      records: [
        {
          attributes: { type: 'Account', referenceId: 'a' },
          Name: 'Tree',
          Contacts: { records: [{ attributes: { type: 'Contact', referenceId: 'c' }, LastName }] },
        },
      ],
    });
    const grown = await org.api('POST', '/composite/tree/Account', tree('Leaf'));
    expect([grown.status, grown.body.results.map((r: Json) => r.referenceId)]).toEqual([201, ['a', 'c']]);
    const failed = await org.api('POST', '/composite/tree/Account', tree());
    expect([failed.status, failed.body.results]).toEqual([
      400,
      [{ referenceId: 'c', errors: [expect.objectContaining({ statusCode: 'REQUIRED_FIELD_MISSING' })] }],
    ]);
  });
});
