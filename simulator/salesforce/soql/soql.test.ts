import { beforeAll, describe, expect, it } from 'vitest';
import { createGround } from '../../kit/index.ts';
import { createOrg } from '../create-org.ts';
import { ApiError } from '../errors.ts';
import { prepare } from '../api/query.ts';
import type { Org } from '../org.ts';
import { addData } from '../control.ts';
import { runPlan } from './plan.ts';
import { renderRow } from './render.ts';

let org: Org;
let acme: string;

beforeAll(() => {
  const ground = createGround({});
  ground.clock.set({ freezeAt: '2026-03-10T12:00:00Z' });
  org = createOrg(ground, { seed: 1, records: 0, rotation: false });
  [acme] = made('Account', [
    { Name: 'Acme', Industry: 'Energy', NumberOfEmployees: 40, BillingCity: 'Oslo', AnnualRevenue: 100 },
    { Name: 'Bolt', ParentId: null, Description: 'long text' },
  ]) as [string, string];
  made('Contact', [
    {
      LastName: 'Aa',
      FirstName: 'Zed',
      AccountId: acme,
      Interests__c: 'Data;Sales',
      Birthdate: '1990-05-01',
    },
    { LastName: 'bb', Email: 'Bb@Example.com', AccountId: acme, Interests__c: 'Service', Score__c: 2.5 },
    { LastName: 'Cc%', DoNotCall: true, Title: "O'Neil" },
    { LastName: 'Dd', Score__c: 10, Title: 'a_b' },
  ]);
});

function made(object: string, records: Record<string, unknown>[]): string[] {
  return addData(org, { object, records })['ids'] as string[];
}

function names(soql: string, field = 'LastName'): unknown[] {
  return runPlan(prepare(org, soql, false)).map((row) => row[field] ?? null);
}

function problem(soql: string): { errorCode: string; message: string } {
  try {
    prepare(org, soql, false);
  } catch (error) {
    if (error instanceof ApiError && error.entries[0]) return error.entries[0];
    throw error;
  }
  throw new Error(`accepted: ${soql}`);
}

const all = ['Aa', 'bb', 'Cc%', 'Dd'];

describe('simulator/salesforce/soql/soql', () => {
  it.each([
    ['', all],
    ["LastName = 'AA'", ['Aa']],
    ["lastname != 'aa'", ['bb', 'Cc%', 'Dd']],
    ["Email != 'x@y.com'", all],
    ['Email = null', ['Aa', 'Cc%', 'Dd']],
    ["Email = ''", ['Aa', 'Cc%', 'Dd']],
    ['Email != NULL', ['bb']],
    ["Email IN ('BB@example.com', 'other@example.com')", ['bb']],
    ["Email NOT IN ('bb@example.com')", ['Aa', 'Cc%', 'Dd']],
    ['Score__c > 2.5', ['Dd']],
    ['Score__c >= 2.5', ['bb', 'Dd']],
    ['Score__c < 10', ['bb']],
    ['Score__c <= 10 AND Score__c <> 2.5', ['Dd']],
    ['DoNotCall = true', ['Cc%']],
    ['DoNotCall = FALSE', ['Aa', 'bb', 'Dd']],
    ["LastName LIKE 'c%'", ['Cc%']],
    ["LastName LIKE '_b'", ['bb']],
    ["LastName LIKE '%\\%'", ['Cc%']],
    ["Title LIKE '_\\_b'", ['Dd']],
    ["Title = 'O\\'Neil'", ['Cc%']],
    ["NOT LastName LIKE '%'", []],
    ['NOT (Score__c > 1)', ['Aa', 'Cc%']],
    ["(LastName = 'Aa' OR LastName = 'Dd') AND Score__c = null", ['Aa']],
    ["LastName = 'Aa' OR (LastName = 'bb' AND DoNotCall = false)", ['Aa', 'bb']],
    ["Interests__c INCLUDES ('Data')", ['Aa']],
    ["Interests__c INCLUDES ('Data;Sales', 'Service')", ['Aa', 'bb']],
    ["Interests__c INCLUDES ('Data;Service')", []],
    ["Interests__c EXCLUDES ('Data')", ['bb', 'Cc%', 'Dd']],
    ['Birthdate = 1990-05-01', ['Aa']],
    ['Birthdate > 1990-05-01', []],
    ['CreatedDate = TODAY', all],
    ['CreatedDate < TODAY', []],
    ['CreatedDate = LAST_N_DAYS:3', all],
    ['CreatedDate = YESTERDAY', []],
    ['CreatedDate >= 2026-03-10T12:00:00Z', all],
    ['CreatedDate > 2026-03-10T13:00:00+01:00', []],
    ['CreatedDate = THIS_MONTH', all],
    ["Account.Name = 'acme'", ['Aa', 'bb']],
    ['Account.Name = null', ['Cc%', 'Dd']],
    ["Account.Industry = 'Energy' AND Account.Owner.Name LIKE 'Sim%'", ['Aa', 'bb']],
    ["AccountId IN (SELECT Id FROM Account WHERE BillingCity = 'Oslo')", ['Aa', 'bb']],
    ["IsDeleted = false AND Id != '003000000000000'", all],
  ])('WHERE %s', (where, expected) => {
    expect(names(`SELECT Id FROM Contact ${where ? `WHERE ${where}` : ''}`)).toEqual(expected);
  });

  it.each([
    ['ORDER BY LastName DESC', ['Dd', 'Cc%', 'bb', 'Aa']],
    ['ORDER BY Score__c', ['Aa', 'Cc%', 'bb', 'Dd']],
    ['ORDER BY Score__c DESC NULLS LAST', ['Dd', 'bb', 'Aa', 'Cc%']],
    ['ORDER BY Account.Name NULLS LAST, LastName DESC', ['bb', 'Aa', 'Dd', 'Cc%']],
    ['ORDER BY Id DESC LIMIT 2', ['Dd', 'Cc%']],
    ['ORDER BY LastName LIMIT 2 OFFSET 1', ['bb', 'Cc%']],
    ['LIMIT 0', []],
    ['LIMIT 1 FOR VIEW', ['Aa']],
    ['LIMIT 1 FOR REFERENCE FOR VIEW', ['Aa']],
  ])('%s', (tail, expected) => {
    expect(names(`select id from contact ${tail}`)).toEqual(expected);
  });

  it('finds by 15- and 18-character ids and understands aliases', () => {
    expect(names(`SELECT c.Id FROM Contact c WHERE c.AccountId = '${acme.slice(0, 15)}'`)).toEqual([
      'Aa',
      'bb',
    ]);
    expect(names(`SELECT Contact.Id FROM Contact WHERE Contact.AccountId = '${acme}'`)).toEqual(['Aa', 'bb']);
    expect(names(`SELECT Id FROM Account WHERE Id IN ('${acme}', '${acme.slice(0, 15)}')`, 'Name')).toEqual([
      'Acme',
    ]);
  });

  it('renders canonical names, nulls, parents, compound addresses and children', () => {
    const plan = prepare(
      org,
      "SELECT name, billingaddress, parent.name, fax, (SELECT lastname FROM contacts ORDER BY LastName DESC) FROM account WHERE name IN ('acme', 'bolt') ORDER BY Name",
      false,
    );
    const context = {
      store: org.store,
      base: '/b',
      list: (_plan: unknown, rows: { LastName?: unknown }[]) => rows.map((r) => r.LastName),
    };
    const [first, second] = runPlan(plan).map((row) =>
      renderRow(context, plan.scope.object, plan.columns, row),
    );
    expect(first).toMatchObject({
      attributes: { type: 'Account', url: `/b/sobjects/Account/${acme}` },
      Name: 'Acme',
      BillingAddress: { city: 'Oslo', street: null },
      Parent: null,
      Fax: null,
      Contacts: ['bb', 'Aa'],
    });
    expect(second).toMatchObject({ Name: 'Bolt', BillingAddress: null, Contacts: null });
  });

  it('expands FIELDS() within its limits', () => {
    const columns = (which: string): string[] =>
      prepare(org, `SELECT FIELDS(${which}) FROM Contact LIMIT 10`, false).columns.map((c) =>
        c.kind === 'value' ? c.field.name : '',
      );
    expect(columns('CUSTOM')).toEqual(['Level__c', 'Interests__c', 'Score__c', 'External_Id__c']);
    expect(columns('STANDARD')).not.toContain('Score__c');
    expect(columns('all')).toEqual(expect.arrayContaining(['Id', 'Score__c', 'MailingAddress']));
    expect(problem('SELECT FIELDS(ALL) FROM Contact')).toMatchObject({ errorCode: 'MALFORMED_QUERY' });
    expect(problem('SELECT FIELDS(ALL) FROM Contact LIMIT 201').message).toContain('at most 200');
  });

  it.each([
    ['SELECT Nope FROM Contact', 'INVALID_FIELD', "No such column 'Nope' on entity 'Contact'"],
    ['SELECT Id FROM Contact WHERE Nope = 1', 'INVALID_FIELD', "No such column 'Nope'"],
    ['SELECT Id FROM Contact ORDER BY Nope', 'INVALID_FIELD', "No such column 'Nope'"],
    ['SELECT Account.Nope FROM Contact', 'INVALID_FIELD', "No such column 'Nope' on entity 'Account'"],
    ['SELECT Nope.Name FROM Contact', 'INVALID_FIELD', "Didn't understand relationship 'Nope'"],
    ['SELECT Id, Id FROM Contact', 'INVALID_FIELD', 'duplicate field selected: Id'],
    ['SELECT Id FROM Nope', 'INVALID_TYPE', "sObject type 'Nope' is not supported"],
    ['SELECT Id, (SELECT Id FROM Nopes) FROM Account', 'INVALID_TYPE', "relationship 'Nopes'"],
    ['SELECT FROM Contact', 'MALFORMED_QUERY', 'unexpected token'],
    ['SELECT Id', 'MALFORMED_QUERY', 'unexpected token'],
    ['SELECT Id FROM Contact WHERE', 'MALFORMED_QUERY', 'unexpected token'],
    ["SELECT Id FROM Contact WHERE LastName = 'x", 'MALFORMED_QUERY', '<EOF>'],
    [
      "SELECT Id FROM Contact WHERE LastName = 'a' AND LastName = 'b' OR LastName = 'c'",
      'MALFORMED_QUERY',
      'OR',
    ],
    ['SELECT Id FROM Contact LIMIT x', 'MALFORMED_QUERY', "unexpected token: 'x'"],
    ['SELECT Id FROM Contact OFFSET 2001', 'NUMBER_OUTSIDE_VALID_RANGE', '2000'],
    [
      "SELECT Id FROM Contact WHERE CreatedDate > '2026-01-01T00:00:00Z'",
      'INVALID_FIELD',
      'should not be enclosed',
    ],
    ['SELECT Id FROM Contact WHERE CreatedDate > 2026-01-01', 'INVALID_FIELD', 'must be of type dateTime'],
    [
      'SELECT Id FROM Contact WHERE CreatedDate > 2026-01-01T00:00:00 00:00',
      'MALFORMED_QUERY',
      'no viable alternative',
    ],
    ['SELECT Id FROM Contact WHERE LastName = 5', 'INVALID_FIELD', 'should be enclosed in quotes'],
    ["SELECT Id FROM Contact WHERE Score__c = '5'", 'INVALID_FIELD', 'must be of type double'],
    ["SELECT Id FROM Contact WHERE Id = 'xyz'", 'INVALID_QUERY_FILTER_OPERATOR', 'invalid ID field: xyz'],
    ["SELECT Id FROM Account WHERE Description = 'x'", 'INVALID_FIELD', 'can not be filtered'],
    ['SELECT Id FROM Account ORDER BY Description', 'MALFORMED_QUERY', 'can not be sorted'],
  ])('refuses %s', (soql, errorCode, message) => {
    const found = problem(soql);
    expect(found.errorCode).toBe(errorCode);
    expect(found.message).toContain(message);
  });

  it('says where in the query the unknown column stands', () => {
    expect(problem('SELECT Nope FROM Contact').message).toContain('ERROR at Row:1:Column:8');
  });

  it('shows deleted records to queryAll alone, for 15 days', () => {
    const [id] = made('Lead', [{ LastName: 'Gone', Company: 'X' }]);
    addData(org, { object: 'Lead', action: 'delete', records: [{ Id: id }] });
    const soql = "SELECT Id FROM Lead WHERE IsDeleted = true AND LastName = 'Gone'";
    const count = (deleted: boolean): number => runPlan(prepare(org, soql, deleted)).length;
    expect([count(false), count(true)]).toEqual([0, 1]);
    org.ground.clock.set({ advanceMs: 15 * 86_400_000 });
    expect(count(true)).toBe(0);
    const byId = prepare(org, `SELECT Id FROM Lead WHERE Id = '${id}'`, true);
    expect(runPlan(byId)).toEqual([]);
  });

  it('compares times by whole seconds', () => {
    org.ground.clock.set({ freezeAt: '2026-06-01T10:00:00.750Z' });
    made('Lead', [{ LastName: 'Second', Company: 'X' }]);
    const found = (condition: string): number =>
      runPlan(prepare(org, `SELECT Id FROM Lead WHERE LastName = 'Second' AND ${condition}`, false)).length;
    expect(found('SystemModstamp = 2026-06-01T10:00:00Z')).toBe(1);
    expect(found('SystemModstamp >= 2026-06-01T10:00:00.900Z')).toBe(1);
    expect(found('SystemModstamp > 2026-06-01T10:00:00.000Z')).toBe(0);
    expect(names("SELECT SystemModstamp FROM Lead WHERE LastName = 'Second'", 'SystemModstamp')).toEqual([
      '2026-06-01T10:00:00.000+0000',
    ]);
  });

  it('pages after the last id in the order of ids, in which case counts', () => {
    const count = made(
      'Task',
      Array.from({ length: 70 }, (_task, i) => ({ Subject: `Task ${i}` })),
    ).length;
    const ids = names('SELECT Id FROM Task ORDER BY Id', 'Id').map(String);
    expect(ids.length).toBeGreaterThanOrEqual(count);
    const paged: string[] = [];
    for (let last = ''; ; last = paged.at(-1) ?? '') {
      const where = last === '' ? '' : `WHERE Id > '${last}'`;
      const page = names(`SELECT Id FROM Task ${where} ORDER BY Id LIMIT 3`, 'Id').map(String);
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(ids);
  });
});
