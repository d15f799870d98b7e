import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrg, type Answer, type Json, type TestOrg } from '../test-client.ts';

let org: TestOrg;

beforeAll(async () => {
  org = await startOrg({ records: 0 });
});
afterAll(() => org.close());

const make = async (object: string, fields: Record<string, unknown>): Promise<string> => {
  const { status, body } = await org.api('POST', `/sobjects/${object}`, fields);
  expect([status, body[0]?.message]).toEqual([201, undefined]);
  return body.id;
};
const remove = (object: string, id: string): Promise<Answer> =>
  org.api('DELETE', `/sobjects/${object}/${id}`);
const idsOf = async (soql: string, all = false): Promise<string[]> => {
  const { body } = await org.api('GET', `/query${all ? 'All' : ''}?q=${encodeURIComponent(soql)}`);
  return body.records.map((one: Json) => one.Id);
};

describe('simulator/salesforce/store/write', () => {
  it('deletes what belongs to a deleted account, and empties the other lookups', async () => {
    const account = await make('Account', { Name: 'Top' });
    const child = await make('Account', { Name: 'Child', ParentId: account });
    const contact = await make('Contact', { LastName: 'Goes', AccountId: account });
    const deal = { Name: 'Open', AccountId: account, StageName: 'Prospecting', CloseDate: '2027-01-01' };
    const opportunity = await make('Opportunity', deal);
    const role = { OpportunityId: opportunity, ContactId: contact };
    const contactRole = await make('OpportunityContactRole', role);
    const task = await make('Task', { WhatId: opportunity, Subject: 'Call' });
    const before = (await org.sim('effects')).effects.at(-1).seq;
    expect((await remove('Account', account)).status).toBe(204);
    const gone = [account, contact, opportunity, contactRole, task];
    const { effects } = await org.sim(`effects?since=${before}`);
    expect(new Set(effects.map((one: Json) => `${one.kind} ${one.id}`))).toEqual(
      new Set(gone.map((id) => `delete ${id}`)),
    );
    expect(effects).toHaveLength(gone.length);
    expect(await idsOf(`SELECT Id FROM Contact WHERE Id = '${contact}'`)).toEqual([]);
    expect(await idsOf(`SELECT Id FROM Contact WHERE Id = '${contact}'`, true)).toEqual([contact]);
    expect((await org.api('GET', `/sobjects/Account/${child}`)).body.ParentId).toBeNull();
    const { body } = await org.api('GET', '/sobjects/Account/describe');
    const relation = (name: string): Json =>
      body.childRelationships.find((one: Json) => one.relationshipName === name);
    expect(relation('Contacts')).toMatchObject({ cascadeDelete: true, restrictedDelete: false });
    expect(relation('Cases')).toMatchObject({ cascadeDelete: false, restrictedDelete: true });
  });

  it('keeps an account that has cases or a won opportunity, and deletes nothing', async () => {
    const account = await make('Account', { Name: 'Kept' });
    const contact = await make('Contact', { LastName: 'Stays', AccountId: account });
    const asked = await make('Case', { Subject: 'Why', AccountId: account, ContactId: contact });
    for (const [object, id] of [
      ['Account', account],
      ['Contact', contact],
    ] as const) {
      const { status, body } = await remove(object, id);
      expect([status, body[0].errorCode]).toEqual([400, 'DELETE_FAILED']);
      expect(body[0].message).toContain('associated with the following cases');
    }
    expect((await remove('Case', asked)).status).toBe(204);
    const won = { Name: 'Won deal', AccountId: account, StageName: 'Closed Won', CloseDate: '2027-01-01' };
    const opportunity = await make('Opportunity', won);
    const [item] = (await org.api('DELETE', `/composite/sobjects?ids=${account}`)).body;
    expect(item.errors[0].statusCode).toBe('DELETE_FAILED');
    expect(item.errors[0].message).toContain('closed won.: Won deal');
    expect(await idsOf(`SELECT Id FROM Contact WHERE Id = '${contact}'`)).toEqual([contact]);
    expect((await remove('Opportunity', opportunity)).status).toBe(204);
    expect((await remove('Account', account)).status).toBe(204);
  });

  it('applies a duplicate rule to an edit of the fields it compares', async () => {
    const rule = { name: 'Mail', object: 'Contact', fields: ['Email'], mode: 'alert' };
    const first = await make('Contact', { LastName: 'A', Email: 'one@example.com' });
    const second = await make('Contact', { LastName: 'B', Email: 'two@example.com' });
    const edit = (fields: Json, allowSave = false): Promise<Answer> =>
      org.api('PATCH', `/sobjects/Contact/${second}`, fields, {
        'sforce-duplicate-rule-header': `allowSave=${allowSave}`,
      });
    await org.sim('settings', { duplicateRules: [rule] });
    const refused = await edit({ Email: 'ONE@example.com' });
    expect([refused.status, refused.body[0].errorCode]).toEqual([400, 'DUPLICATES_DETECTED']);
    expect(refused.body[0].duplicateResut.matchResults[0].matchRecords[0].record.Id).toBe(first);
    expect((await edit({ Email: 'one@example.com' }, true)).status).toBe(204);
    expect((await edit({ LastName: 'C' })).status).toBe(204);
    await org.sim('settings', { duplicateRules: [{ ...rule, onUpdate: 'allow' }] });
    await edit({ Email: 'two@example.com' });
    expect((await edit({ Email: 'one@example.com' })).status).toBe(204);
    await org.sim('settings', { duplicateRules: [{ ...rule, mode: 'alert', onUpdate: 'block' }] });
    await edit({ Email: 'two@example.com' });
    const blocked = await edit({ Email: 'one@example.com' }, true);
    expect(blocked.body[0].duplicateResut.allowSave).toBe(false);
    await org.sim('settings', { duplicateRules: [] });
  });

  it('forgets a deleted record after 15 days', async () => {
    const id = await make('Lead', { LastName: 'Old', Company: 'X' });
    await remove('Lead', id);
    expect((await remove('Lead', id)).body[0].errorCode).toBe('ENTITY_IS_DELETED');
    expect(await idsOf(`SELECT Id FROM Lead WHERE Id = '${id}'`, true)).toEqual([id]);
    await org.sim('clock', { advanceMs: 15 * 86_400_000 });
    const { accessToken } = await org.issue();
    const later = { authorization: `Bearer ${accessToken}` };
    const soql = encodeURIComponent(`SELECT Id FROM Lead WHERE Id = '${id}'`);
    const { body } = await org.api('GET', `/queryAll?q=${soql}`, undefined, later);
    expect(body.records).toEqual([]);
    const again = await org.api('DELETE', `/sobjects/Lead/${id}`, undefined, later);
    expect([again.status, again.body[0].errorCode]).toEqual([404, 'NOT_FOUND']);
    await org.sim('clock', { shiftMs: 0 });
  });

  it('says that an upsert created from version 46 on, and creates nothing when only asked to update', async () => {
    const upsert = (version: number, key: string, query = ''): Promise<Answer> => {
      const path = `/services/data/v${version}.0/sobjects/UpsertTable__c/ExtId__c/${key}${query}`;
      return org.call('PATCH', path, { Name: 'x' }, { authorization: `Bearer ${org.token}` });
    };
    const old = await upsert(45, 'k-45');
    expect([old.status, Object.keys(old.body).toSorted()]).toEqual([201, ['errors', 'id', 'success']]);
    expect((await upsert(45, 'k-45')).status).toBe(204);
    expect((await upsert(46, 'k-46')).body).toMatchObject({ success: true, created: true });
    expect((await upsert(46, 'k-46')).body).toMatchObject({ success: true, created: false });
    expect((await upsert(60, 'k-none', '?updateOnly=true')).status).toBe(404);
    expect((await upsert(60, 'k-46', '?updateOnly=true')).status).toBe(200);
  });

  it('knows the fields of an account that were missing', async () => {
    const fields = {
      Sic: '7372',
      SicDesc: 'Software',
      Ownership: 'Private',
      TickerSymbol: 'SIM',
      Site: 'Main',
    };
    const id = await make('Account', { Name: 'Listed', ...fields });
    expect((await org.api('GET', `/sobjects/Account/${id}`)).body).toMatchObject(fields);
  });

  it('has record types, that belong to an object', async () => {
    const { body } = await org.api('GET', '/sobjects/Account/describe');
    const [customer, , master] = body.recordTypeInfos;
    expect([customer.developerName, master.master]).toEqual(['Customer', true]);
    const id = await make('Account', { Name: 'Typed', RecordTypeId: customer.recordTypeId });
    const soql = `SELECT Id FROM Account WHERE RecordType.DeveloperName = 'Customer' AND Id = '${id}'`;
    expect(await idsOf(soql)).toEqual([id]);
    const foreign = { LastName: 'X', RecordTypeId: customer.recordTypeId };
    const refused = await org.api('POST', '/sobjects/Contact', foreign);
    expect(refused.body[0]).toMatchObject({
      errorCode: 'INVALID_CROSS_REFERENCE_KEY',
      fields: ['RecordTypeId'],
    });
  });

  it('has one organization, which cannot be created or deleted', async () => {
    expect(await idsOf('SELECT Id, FiscalYearStartMonth FROM Organization')).toEqual([org.orgId]);
    const made = await org.api('POST', '/sobjects/Organization', { Name: 'Mine' });
    expect([made.status, made.body[0].errorCode]).toEqual([400, 'INVALID_TYPE_FOR_OPERATION']);
    expect((await remove('Organization', org.orgId)).status).toBe(400);
  });

  it('joins a contact or a lead to a campaign, once', async () => {
    const CampaignId = await make('Campaign', { Name: 'Fair' });
    const ContactId = await make('Contact', { LastName: 'Guest' });
    const member = await make('CampaignMember', { CampaignId, ContactId });
    const refusal = async (fields: Json): Promise<string> =>
      (await org.api('POST', '/sobjects/CampaignMember', fields)).body[0].errorCode;
    expect(await refusal({ CampaignId, ContactId })).toBe('DUPLICATE_VALUE');
    expect(await refusal({ CampaignId })).toBe('REQUIRED_FIELD_MISSING');
    await org.api('PATCH', `/sobjects/CampaignMember/${member}`, { Status: 'Responded' });
    expect((await org.api('GET', `/sobjects/CampaignMember/${member}`)).body).toMatchObject({
      HasResponded: true,
      Type: 'Contact',
      LeadOrContactId: ContactId,
    });
    await remove('Contact', ContactId);
    expect(await idsOf(`SELECT Id FROM CampaignMember WHERE Id = '${member}'`)).toEqual([]);
  });
});
