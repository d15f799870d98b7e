import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { ObjectDescription, ProviderRequest, ReadQuery, ReadRecord } from '../connector.ts';
import { hubspot } from './index.ts';
import { mergesBehind } from './merges.ts';

const read = hubspot.read!;
type Running = Awaited<ReturnType<typeof startHubspot>>;

describe('src/providers/hubspot/merges', () => {
  let simulator: Running;
  let token: string;
  let object: ObjectDescription;

  async function send({ method, path, body }: ProviderRequest): Promise<HttpAnswer> {
    const response = await fetch(simulator.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: {}, body: await response.text() };
  }
  async function control<Body>(path: string, body?: object): Promise<Body> {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    return (await (await fetch(`${simulator.url}/__sim/${path}`, init)).json()) as Body;
  }
  const change = async (body: object): Promise<string[]> =>
    (await control<{ ids: string[] }>('data', { object: 'contacts', ...body })).ids;
  const create = (...names: string[]): Promise<string[]> =>
    change({ records: names.map((lastname) => ({ properties: { lastname } })) });
  const now = async (): Promise<number> => Date.parse((await control<{ now: string }>('health')).now);
  const advance = (): Promise<unknown> => control('clock', { advanceMs: 10_000 });

  async function merge(primaryObjectId: string, objectIdToMerge: string): Promise<string> {
    const body = { primaryObjectId, objectIdToMerge };
    const answer = await send({ method: 'POST', path: '/crm/v3/objects/contacts/merge', body });
    expect(answer.status).toBe(200);
    return (JSON.parse(answer.body) as { id: string }).id;
  }

  const queryOf = (more: Partial<ReadQuery>): ReadQuery => ({
    object,
    fields: ['lastname'],
    since: 0,
    until: 0,
    filters: [],
    deleted: false,
    ...more,
  });
  /** The pages of a read, with no more than its cursor kept between them. */
  async function pagesOf(more: Partial<ReadQuery>): Promise<ReadRecord[][]> {
    const query = queryOf({ until: await now(), ...more });
    const pages: ReadRecord[][] = [];
    let cursor: string | undefined = read.begin(query, false);
    while (cursor !== undefined) {
      const answers = [await send(read.build(query, cursor))];
      let judged = read.judge(query, cursor, answers);
      if ('ask' in judged) {
        for (const request of judged.ask) answers.push(await send(request));
        judged = read.judge(query, cursor, answers);
      }
      if (!('page' in judged)) throw new Error(JSON.stringify(judged));
      pages.push(judged.page.records);
      cursor = judged.page.next;
    }
    return pages;
  }
  const idsOf = async (more: Partial<ReadQuery>): Promise<string[]> =>
    (await pagesOf(more)).flat().map(({ id }) => id);

  beforeAll(async () => {
    simulator = await startHubspot({ records: 0 });
  });
  beforeEach(async () => {
    await control('reset', {});
    await control('quotas', { burstMax: null, searchPerSecond: null });
    token = (await control<{ accessToken: string }>('tokens', { action: 'issue' })).accessToken;
    const client = { send: async (request: ProviderRequest) => ({ answer: await send(request) }) };
    const described = await hubspot.describe!.describe(client, 'contacts');
    if ('failure' in described) throw new Error(described.failure.message);
    ({ object } = described);
  });
  afterAll(() => simulator.close());

  it('tells what was merged as deleted, at the version of what came of it, in this window and no other', async () => {
    const [one, other, third] = await create('One', 'Other', 'Third');
    await change({ delete: [third!] });
    await advance();
    const before = await now();
    await advance();
    const into = await merge(one!, other!);
    const standing = (await pagesOf({ since: before })).flat();
    expect(standing.map(({ id }) => id)).toEqual([into]);
    const gone = (await pagesOf({ since: before, deleted: true })).flat();
    const { version } = standing[0]!;
    expect(gone).toEqual(
      [one, other].map((id) => ({ id, version, fields: {}, raw: expect.objectContaining({ id: into }) })),
    );
    expect(JSON.stringify(gone)).not.toContain('One');
    expect(await idsOf({ until: before, deleted: true })).toEqual([third]);
  });

  it('tells what was merged in turn, and what was merged into a record that is deleted since', async () => {
    const [one, other, third] = await create('One', 'Other', 'Third');
    const between = await merge(one!, other!);
    const into = await merge(between, third!);
    const merged = [one, other, between, third];
    expect(await idsOf({ deleted: true })).toEqual(merged);
    await change({ delete: [into] });
    expect(await idsOf({ deleted: true })).toEqual([into, ...merged]);
  });

  it('finds more merges than a page holds', async () => {
    const ids = await create(...Array.from({ length: 14 }, (_one, at) => `Name ${at}`));
    for (let at = 0; at < ids.length; at += 2) await merge(ids[at]!, ids[at + 1]!);
    const pages = await pagesOf({ deleted: true, limit: 3 });
    expect(pages.map((page) => page.length)).toEqual([0, 6, 6, 2]);
    expect(pages.flat().map(({ id }) => id)).toEqual(ids);
  });

  it('leaves out what was merged before its values were read by id, and reads what came of it once', async () => {
    const [one, other, third] = await create('One', 'Other', 'Third');
    await control('settings', { freezeIndex: true });
    const into = await merge(one!, other!);
    const names = Array.from({ length: 300 }, (_name, at) => `a_property_of_some_length_${at}`);
    const described = object.fields['lastname']!;
    const many = Object.fromEntries(names.map((fieldName) => [fieldName, { ...described, fieldName }]));
    const wide = { ...object, fields: { ...object.fields, ...many } };
    expect(await idsOf({ object: wide, fields: names })).toEqual([third]);
    const { readAssociations: ability } = hubspot;
    const query = queryOf({ until: await now() });
    const ids = [one!, into];
    const answers = await Promise.all(ability!.buildRecords(query, ids).map((request) => send(request)));
    const judged = ability!.judgeRecords(query, ids, answers);
    expect(judged).toMatchObject({ records: [{ id: into }] });
    expect(judged).toHaveProperty('records.length', 1);
    const stray = ability!.judgeRecords(query, [third!], answers);
    expect(stray).toMatchObject({ failure: { category: 'providerDown' } });
    await control('settings', { freezeIndex: false });
  });

  it('§2.5 tells what a record holds by the ids of those that it is made of, too', async () => {
    const [one = '', other = '', third = ''] = await create('One', 'Other', 'Third');
    const into = await merge(one, other);
    const { currentFields: ability } = hubspot;
    const ids = [other, third, '999999999', into];
    const answer = await send(ability!.build('contacts', ids, ['lastname']));
    const found = [other, third, into].map((id) => [id, { lastname: id === third ? 'Third' : 'One' }]);
    const merged = new Map([one, other].map((id) => [id, into]));
    expect(ability!.judge(ids, ['lastname'], answer)).toEqual({ found: new Map(found as []), merged });
  });

  it('asks for no merges of an object that does not tell of them', async () => {
    const { hs_merged_object_ids: _merged, ...fields } = object.fields;
    const query = queryOf({ object: { ...object, fields }, deleted: true });
    const none = { status: 200, headers: {}, body: '{"results":[]}' };
    expect(read.judge(query, '', [none])).toEqual({ page: { records: [] } });
    expect(read.judge(queryOf({ deleted: true }), '', [none])).toEqual({
      page: { records: [], next: expect.any(String) },
    });
  });

  it.each([
    ['a page of HTML', '<html>'],
    ['no results', { total: 0 }],
    ['a record that nothing was merged into', { results: [survivor('7', null)] }],
    ['ids in another form', { results: [survivor('7', '5,6')] }],
    ['a record that was read already', { results: [survivor('3', '1;2')] }],
  ])('fails on %s', (_what, body) => {
    const query = queryOf({ until: 10_000, deleted: true });
    const answer = { status: 200, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) };
    expect(read.judge(query, mergesBehind('5'), [answer])).toMatchObject({
      failure: { category: 'providerDown', retryable: true },
    });
  });
});

function survivor(id: string, merged: string | null): object {
  const properties = { hs_merged_object_ids: merged, lastmodifieddate: '1970-01-01T00:00:01.000Z' };
  return { id, properties };
}
