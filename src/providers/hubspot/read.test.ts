import { describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { ReadQuery } from '../connector.ts';
import { testReads, type ReadFixture } from '../read.testsuite.ts';
import type { FieldMetadata } from '../schema.ts';
import { hubspot } from './index.ts';

const textField = { type: 'string', fieldType: 'text' };
const carGroup = 'car_information';

/** Records of one object whose text is a property. */
async function startReads(
  object: string,
  label: string,
  changes: Partial<ReadFixture> = {},
): Promise<ReadFixture> {
  const simulator = await startHubspot({ records: 0 });
  return {
    connector: hubspot,
    url: simulator.url,
    close: simulator.close,
    objectName: object,
    label,
    quotas: { burstMax: null, searchPerSecond: null },
    creates: (texts, updatedAt) => ({
      object,
      records: texts.map((text) => ({ properties: { [label]: text }, updatedAt })),
    }),
    edits: (ids, text) => ({ object, records: ids.map((id) => ({ id, properties: { [label]: text } })) }),
    deletes: (ids) => ({ object, delete: ids }),
    late: (change, searchLagMs) => [
      ['settings', { searchLagMs }],
      ['data', change],
    ],
    addFields: (names) => ({
      object,
      properties: names.map((name) => ({
        name,
        label: name,
        groupName: object === 'contacts' ? 'contactinformation' : carGroup,
        ...textField,
      })),
    }),
    withValues: (id, properties) => ({ object, records: [{ id, properties }] }),
    nameOf: (index) => `a_property_with_a_name_of_some_length_${index}`,
    page: { path: `/crm/v3/objects/${object}(?:\\?|/search)` },
    stored: (row) => ({
      id: String(row['id']),
      text: (row['properties'] as Record<string, unknown>)[label],
      deleted: row['archived'] === true,
    }),
    ...changes,
  };
}

testReads('hubspot/read', () => startReads('contacts', 'lastname'));

const car = {
  name: 'car',
  labels: { singular: 'Car', plural: 'Cars' },
  primaryDisplayProperty: 'model',
  requiredProperties: [],
  properties: [{ name: 'model', label: 'Model', groupName: carGroup, ...textField }],
};
testReads('hubspot/read, an object of the customer', () =>
  startReads('p244001_car', 'model', {
    prepare: [['schema', { objects: [car] }]],
  }),
);

testReads(
  'hubspot/read, owners',
  () =>
    startReads('owners', 'lastName', {
      prepare: [['data', { object: 'owners', clear: true }]],
      page: { path: '/crm/v3/owners\\?' },
      stored: ({ id, lastName, archived }) => ({
        id: String(id),
        text: lastName,
        deleted: archived === true,
      }),
    }),
  ['search', 'addedFields'],
);

const field = (fieldName: string, valueType: FieldMetadata['valueType'] = 'string'): FieldMetadata => ({
  fieldName,
  displayName: fieldName,
  valueType,
});
const fieldsOf = (...fields: FieldMetadata[]): Record<string, FieldMetadata> =>
  Object.fromEntries(fields.map((one) => [one.fieldName, one]));
const from = Date.parse('2026-01-01T00:00:00Z');
const query: ReadQuery = {
  object: {
    name: 'companies',
    displayName: 'Companies',
    fields: fieldsOf(field('hs_lastmodifieddate', 'datetime'), field('name'), field('size', 'float')),
  },
  fields: ['NAME', 'id', 'gone'],
  since: from,
  until: from + 10_000,
  filters: [],
  deleted: false,
};
const answerOf = (body: unknown, status = 200): HttpAnswer => ({
  status,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const company = (id: string, changedAt: number, properties: object = {}): object => ({
  id,
  properties: { hs_lastmodifieddate: new Date(changedAt).toISOString(), ...properties },
  updatedAt: new Date(changedAt).toISOString(),
});

describe('src/providers/hubspot/read, its quirks', () => {
  it('refuses to write owners, whom it describes without asking for their properties', async () => {
    const record = { fields: { firstName: 'Ann' } };
    const call = {
      kind: 'create',
      objectName: 'Owners',
      records: [record],
      allOrNone: false,
      headers: [],
    } as const;
    expect(hubspot.write?.refusal(call)).toMatchObject({
      category: 'validation',
      message: expect.stringMatching(/owners/),
    });
    const asked: string[] = [];
    const answering = (status: number) => ({
      send: async ({ path }: { path: string }) => {
        asked.push(path);
        return { answer: answerOf({ results: [] }, status) };
      },
    });
    const described = await hubspot.describe!.describe(answering(200), 'OWNERS');
    expect(described).toMatchObject({ object: { name: 'owners', fields: { lastName: { readOnly: true } } } });
    expect(asked).toEqual(['/crm/v3/owners?limit=1']);
    expect(await hubspot.describe!.describe(answering(403), 'owners')).toMatchObject({
      failure: { category: 'permission' },
    });
  });

  const read = hubspot.read!;

  it('searches behind the last id, in the names that the object has', () => {
    expect(read.build(query, '017')).toEqual({
      method: 'POST',
      path: '/crm/v3/objects/companies/search',
      body: {
        filterGroups: [
          {
            filters: [
              { propertyName: 'hs_object_id', operator: 'GT', value: '17' },
              { propertyName: 'hs_lastmodifieddate', operator: 'GT', value: String(from) },
              { propertyName: 'hs_lastmodifieddate', operator: 'LTE', value: String(from + 10_000) },
            ],
          },
        ],
        sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
        properties: ['name', 'hs_lastmodifieddate'],
        limit: 200,
      },
    });
    const contacts = {
      ...query.object,
      name: '0-1',
      fields: fieldsOf(field('lastmodifieddate', 'datetime')),
    };
    expect(JSON.stringify(read.build({ ...query, object: contacts }, '0'))).toContain('"lastmodifieddate"');
  });

  it('lists an object without a time of change, and looks at time and filters itself', () => {
    const object = {
      ...query.object,
      fields: fieldsOf(field('name'), field('size', 'float'), field('at', 'datetime')),
    };
    const filters = [
      { fieldName: 'SIZE', operator: 'eq', value: 12.5 },
      { fieldName: 'at', operator: 'eq', value: from },
    ];
    const listed = { ...query, object, filters };
    const cursor = read.begin(listed, false);
    const { path } = read.build(listed, cursor);
    expect(path).toBe('/crm/v3/objects/companies?limit=100&properties=name%2Csize%2Cat');
    const fits = { size: '12.50', at: '2026-01-01T00:00:00.000Z' };
    const results = [
      company('1', from, fits),
      company('2', from + 1, fits),
      company('3', from + 1, { ...fits, size: '12' }),
      company('4', from + 1, { ...fits, at: null }),
      company('5', from + 10_000, fits),
      company('6', from + 10_001, fits),
    ];
    const judged = read.judge(listed, cursor, [answerOf({ results, paging: { next: { after: '7' } } })]);
    expect(judged).toMatchObject({ page: { records: [{ id: '2' }, { id: '5' }], next: '7' } });
    expect(read.build(listed, '7').path).toBe(`${path}&after=7`);
    expect(read.buildCount(listed)).toBeUndefined();
  });

  it('sends three filters and looks at the others itself', () => {
    const filters = ['a', 'b', 'c', 'd'].map((fieldName) => ({ fieldName, operator: 'eq', value: 'x' }));
    const fields = { ...query.object.fields, ...fieldsOf(...['a', 'b', 'c', 'd'].map((one) => field(one))) };
    const many = { ...query, filters, object: { ...query.object, fields } };
    expect(JSON.stringify(read.build(many, '0').body).match(/"EQ"/g)).toHaveLength(3);
    const results = [company('1', from + 1, { d: 'X' }), company('2', from + 1, { d: 'y' })];
    expect(read.judge(many, '0', [answerOf({ results })])).toMatchObject({
      page: { records: [{ id: '1' }] },
    });
  });

  it('keeps the digits of numbers', () => {
    const raw = `{"id":"5","properties":{"hs_lastmodifieddate":"2026-01-01T00:00:01Z"},"n":[1.50,12345678901234567890,1e400,-0]}`;
    const judged = read.judge(query, '0', [answerOf(`{"results":[${raw}]}`)]);
    expect('page' in judged && JSON.stringify(judged.page.records[0]?.raw)).toBe(raw);
  });

  it.each([
    ['ids that were read already', '05', { results: [company('5', from + 1)] }],
    ['a record without an id', '0', { results: [company('1', from + 1), { properties: {} }] }],
    ['a record without a time', '0', { results: [{ id: '1', properties: {} }] }],
    ['a record without properties', '0', { results: [{ id: '1', updatedAt: '2026-01-01T00:00:01Z' }] }],
    ['no results', '0', { total: 0 }],
    ['a rest that is no object', '0', { results: [company('1', from + 1)], paging: 'next' }],
    ['a rest without a place', '0', { results: [company('1', from + 1)], paging: { next: {} } }],
    ['a cursor that is no text', '0', { results: [company('1', from + 1)], paging: { next: { after: 1 } } }],
  ])('refuses a page with %s', (_what, cursor, body) => {
    expect(read.judge(query, cursor, [answerOf(body)])).toMatchObject({
      failure: { category: 'providerDown', retryable: true },
    });
  });

  it('refuses a list that leads to where it was', () => {
    const deleted = { ...query, deleted: true };
    const paging = { next: { after: '9' } };
    expect(read.judge(deleted, '9', [answerOf({ results: [], paging })])).toMatchObject({
      failure: { category: 'providerDown' },
    });
  });

  it('goes on while a page is full, though no next one is named', () => {
    const results = Array.from({ length: 200 }, (_one, at) => company(String(at + 1), from + 1));
    expect(read.judge(query, '0', [answerOf({ results })])).toMatchObject({ page: { next: '0200' } });
    expect(read.judge(query, '0', [answerOf({ results: results.slice(1) })])).not.toHaveProperty('page.next');
  });

  it('goes on where it stood when a filter comes or goes meanwhile', () => {
    const all = { ...query, since: undefined };
    const filtered = { ...all, filters: [{ fieldName: 'name', operator: 'eq', value: 'x' }] };
    const behind = (cursor: string): unknown =>
      JSON.stringify(read.build(filtered, cursor).body).match(/"GT","value":"(\d*)"/)?.[1];
    const listed = answerOf({ results: [company('9', from + 1)], paging: { next: { after: '11' } } });
    expect(read.judge(all, '', [listed])).toMatchObject({ page: { next: '11' } });
    const found = answerOf({ results: [company('11', from + 1)], paging: { next: { after: '1' } } });
    expect(behind('11')).toBe('10');
    expect(read.judge(filtered, '11', [found])).toMatchObject({
      page: { records: [{ id: '11' }], next: '011' },
    });
    expect([behind('011'), behind('0')]).toEqual(['11', '0']);
    expect(read.build(all, '011').path).toMatch(/&after=11$/);
    const itself = answerOf({ results: [], paging: { next: { after: '11' } } });
    expect(read.judge(all, '011', [itself])).toMatchObject({ failure: { category: 'providerDown' } });
    expect(read.build(all, '0').path).not.toContain('after=');
    // Of a form that no id has.
    expect(behind('NTI1Cg')).toBe('0');
  });
});
