import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Connection } from 'jsforce';
import { startOrg, type Json, type TestOrg } from '../test-client.ts';

let org: TestOrg;
let acme: string;
let deal: string;

beforeAll(async () => {
  org = await startOrg({ records: 0 });
  await org.sim('clock', { freezeAt: '2025-05-20T12:00:00Z' });
  await org.sim('schema', {
    fields: {
      Lead: [{ name: 'Heat__c', type: 'picklist', picklist: ['h', 'c'], labels: { h: 'Hot', c: 'Cold' } }],
    },
  });
  const leads = [
    {
      Company: 'A',
      LastName: 'One',
      NumberOfEmployees: 10,
      AnnualRevenue: 100,
      Heat__c: 'h',
      Industry: 'Energy',
    },
    {
      Company: 'a',
      LastName: 'Two',
      NumberOfEmployees: 30,
      AnnualRevenue: 200,
      Heat__c: 'c',
      Industry: 'Energy',
    },
    { Company: 'B', LastName: 'Three', NumberOfEmployees: 5, Industry: 'Banking' },
    { Company: 'C', LastName: 'Four' },
  ].map((lead, i) =>
    Object.assign(lead, { LeadSource: 'Other', CreatedDate: `2025-0${i + 2}-01T08:00:00Z` }),
  );
  await org.sim('data', { object: 'Lead', records: leads });
  acme = (await org.sim('data', { object: 'Account', records: [{ Name: 'Acme', Phone: '1' }] })).ids[0];
  deal = (
    await org.sim('data', {
      object: 'Opportunity',
      records: [{ Name: 'Big', StageName: 'Prospecting', CloseDate: '2025-11-03', Amount: 1234.5 }],
    })
  ).ids[0];
  const contact = (await org.sim('data', { object: 'Contact', records: [{ LastName: 'Who' }] })).ids[0];
  const Subject = 'Typed';
  const tasks = [
    { WhatId: acme, Subject },
    { WhatId: deal, Subject },
    { WhoId: contact, Subject },
  ];
  await org.sim('data', { object: 'Task', records: tasks });
});
afterAll(() => org.close());

const ask = (soql: string): Promise<Json> => org.api('GET', `/query?q=${encodeURIComponent(soql)}`);
const rows = async (soql: string): Promise<Json[]> => {
  const { status, body } = await ask(soql);
  expect([status, body.errorCode ?? body[0]?.message]).toEqual([200, undefined]);
  return body.records.map(({ attributes: _drop, ...rest }: Json) => rest);
};
const from = "FROM Lead WHERE LeadSource = 'Other'";

describe('simulator/salesforce/soql/grouping', () => {
  it('computes over all records, with names of its own or of the caller', async () => {
    const { body } = await ask(
      `SELECT COUNT(Id), COUNT(Industry) named, COUNT_DISTINCT(Company), SUM(NumberOfEmployees), AVG(NumberOfEmployees), MIN(LastName), MAX(CreatedDate) ${from}`,
    );
    expect(body).toEqual({
      totalSize: 1,
      done: true,
      records: [
        {
          attributes: { type: 'AggregateResult' },
          expr0: 4,
          named: 3,
          expr1: 3,
          expr2: 45,
          expr3: 15,
          expr4: 'Four',
          expr5: '2025-05-01T08:00:00.000+0000',
        },
      ],
    });
    expect(await rows("SELECT COUNT(Id), SUM(AnnualRevenue) FROM Lead WHERE LastName = 'Nobody'")).toEqual([
      { expr0: 0, expr1: null },
    ]);
  });

  it('groups, filters groups by HAVING, orders and limits them', async () => {
    expect(
      await rows(
        `SELECT Industry, COUNT(Id) ${from} GROUP BY Industry ORDER BY COUNT(Id) DESC, Industry LIMIT 2`,
      ),
    ).toEqual([
      { Industry: 'Energy', expr0: 2 },
      { Industry: null, expr0: 1 },
    ]);
    expect(
      await rows(
        `SELECT Industry i, MAX(NumberOfEmployees) top ${from} GROUP BY Industry HAVING COUNT(Id) > 1 AND Industry LIKE 'E%'`,
      ),
    ).toEqual([{ i: 'Energy', top: 30 }]);
    expect(await rows('SELECT Account.Name, COUNT(Id) FROM Contact GROUP BY Account.Name')).toEqual([
      { Name: null, expr0: 1 },
    ]);
    expect(
      await rows(
        `SELECT CALENDAR_MONTH(CreatedDate) m, COUNT(Id) ${from} GROUP BY CALENDAR_MONTH(CreatedDate) ORDER BY CALENDAR_MONTH(CreatedDate) LIMIT 1`,
      ),
    ).toEqual([{ m: 2, expr0: 1 }]);
  });

  it.each([
    [
      'SELECT LastName, COUNT(Id) FROM Lead GROUP BY Industry',
      'MALFORMED_QUERY',
      'must be grouped or aggregated',
    ],
    ['SELECT COUNT(Id) FROM Lead LIMIT 5', 'MALFORMED_QUERY', 'cannot also use LIMIT'],
    ['SELECT COUNT(Id) FROM Lead GROUP BY CreatedDate', 'INVALID_FIELD', 'can not be grouped'],
    ['SELECT SUM(LastName) FROM Lead', 'INVALID_FIELD', 'does not support aggregate operator SUM'],
    ['SELECT Id FROM Lead WHERE COUNT(Id) > 1', 'MALFORMED_QUERY', 'is not allowed here'],
    ['SELECT Id, SIZE(Name) FROM Lead', 'MALFORMED_QUERY', 'unknown function'],
    ['SELECT LastName n FROM Lead', 'MALFORMED_QUERY', 'field aliasing'],
    ['SELECT Name, (SELECT COUNT(Id) FROM Contacts) FROM Account', 'MALFORMED_QUERY', 'subquery'],
    ['SELECT COUNT(Id) x, MAX(Id) x FROM Lead', 'MALFORMED_QUERY', 'duplicate alias'],
  ])('refuses %s', async (soql, errorCode, message) => {
    const { status, body } = await ask(soql);
    expect([status, body[0].errorCode]).toEqual([400, errorCode]);
    expect(body[0].message).toContain(message);
  });

  it('reads parts of dates, by the calendar and by the fiscal year of the org', async () => {
    const which = `WHERE Id = '${deal}' AND`;
    const count = async (condition: string): Promise<number> =>
      (await ask(`SELECT COUNT() FROM Opportunity ${which} ${condition}`)).body.totalSize;
    expect(await count('CALENDAR_YEAR(CloseDate) = 2025 AND DAY_IN_WEEK(CloseDate) = 2')).toBe(1);
    expect(await count('CloseDate = THIS_FISCAL_YEAR')).toBe(1);
    expect(await count('CloseDate = NEXT_N_QUARTERS:2')).toBe(1);
    expect(await count('CloseDate = NEXT_N_QUARTERS:1')).toBe(0);
    const [organization] = (await org.sim('data/Organization')).records;
    const records = [{ Id: organization.Id, FiscalYearStartMonth: 10 }];
    await org.sim('data', { object: 'Organization', action: 'update', records });
    expect(await count('CloseDate = THIS_FISCAL_YEAR')).toBe(0);
    expect(await count('CloseDate = NEXT_FISCAL_YEAR AND CloseDate = NEXT_N_FISCAL_QUARTERS:2')).toBe(1);
    expect(await count('FISCAL_YEAR(CloseDate) = 2026 AND FISCAL_QUARTER(CloseDate) = 1')).toBe(1);
    await org.sim('clock', { freezeAt: '2026-02-10T12:00:00Z' });
    expect(await count('CloseDate = LAST_FISCAL_QUARTER AND CloseDate = N_FISCAL_QUARTERS_AGO:1')).toBe(1);
    expect(await count('CloseDate = LAST_N_QUARTERS:1 AND CloseDate = N_QUARTERS_AGO:1')).toBe(1);
    expect(await count('CloseDate = N_FISCAL_YEARS_AGO:1')).toBe(0);
    await org.sim('clock', { freezeAt: '2025-05-20T12:00:00Z' });
  });

  it('chooses the columns of a parent by its type', async () => {
    const soql = (otherwise: string): string =>
      `SELECT TYPEOF What WHEN Account THEN Phone, Name ${otherwise} END, Subject FROM Task WHERE Subject = 'Typed'`;
    const found = await rows(soql('ELSE Name, Id'));
    expect(found[0].What).toMatchObject({ attributes: { type: 'Account' }, Phone: '1', Name: 'Acme' });
    expect(found[1].What).toMatchObject({ attributes: { type: 'Opportunity' }, Name: 'Big', Id: deal });
    expect(found[2].What).toBeNull();
    expect((await rows(soql('')))[1].What).toBeNull();
    const wrong = await ask('SELECT TYPEOF What WHEN Lead THEN Name END FROM Task');
    expect(wrong.body[0].errorCode).toBe('INVALID_TYPE');
  });

  it('shows labels and formatted values', async () => {
    expect(
      await rows(`SELECT toLabel(Heat__c), FORMAT(NumberOfEmployees) n ${from} AND LastName = 'Two'`),
    ).toEqual([{ Heat__c: 'Cold', n: '30' }]);
    expect(await rows(`SELECT LastName ${from} AND toLabel(Heat__c) = 'Hot'`)).toEqual([{ LastName: 'One' }]);
    expect(
      await rows(
        `SELECT Amount, FORMAT(Amount) a, FORMAT(CloseDate) d FROM Opportunity WHERE Id = '${deal}'`,
      ),
    ).toEqual([{ Amount: 1234.5, a: '£1,234.50', d: '03/11/2025' }]);
    expect(
      await rows(
        `SELECT Industry, FORMAT(MAX(AnnualRevenue)) top ${from} AND Industry = 'Energy' GROUP BY Industry`,
      ),
    ).toEqual([{ Industry: 'Energy', top: '£200' }]);
  });

  it('accepts the clauses of access and refuses others', async () => {
    for (const clause of ['SECURITY_ENFORCED', 'USER_MODE', 'SYSTEM_MODE'])
      expect(await rows(`SELECT LastName ${from} AND LastName = 'One' WITH ${clause} LIMIT 1`)).toHaveLength(
        1,
      );
    expect((await ask('SELECT Id FROM Lead WITH MAGIC')).status).toBe(400);
  });

  it('is read by the official client', async () => {
    const client = new Connection({ instanceUrl: org.url, accessToken: org.token, version: '60.0' });
    const soql = `SELECT Industry, COUNT(Id) total ${from} AND Industry != null GROUP BY Industry ORDER BY Industry`;
    const { records } = await client.query<{ Industry: string; total: number }>(soql);
    expect(records.map(({ Industry, total }) => [Industry, total])).toEqual([
      ['Banking', 1],
      ['Energy', 2],
    ]);
  });

  it('has no groups in Bulk', async () => {
    for (const query of [
      'SELECT COUNT(Id) FROM Lead',
      'SELECT TYPEOF What WHEN Account THEN Name END FROM Task',
    ])
      expect((await org.api('POST', '/jobs/query', { operation: 'query', query })).status).toBe(400);
  });
});
