import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer, type OperationBody, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Page<Item> {
  results: Item[];
  pagination: { done: boolean; nextPageToken?: string };
}

const absentId = '0192f0c1-0000-7000-8000-000000000000';

describe('test/journeys/operations', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  const written: string[] = [];

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    for (let index = 0; index < 5; index++) {
      const made = await customer.write('contacts', {
        type: 'create',
        record: { email: `o${index}@example.com` },
      });
      written.push(made.body.operationId);
    }
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const at = (id: string) => `/projects/default/operations/${id}`;
  const listAt = () =>
    `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}/operations`;
  const list = <Body = Page<OperationBody>>(query = '') => platform.call<Body>('GET', `${listAt()}${query}`);

  it('§4.3, §2.7 an operation has id, projectId, integrationId, installationId, configId, actionType, status, result, resource, createTime and updateTime', async () => {
    const found = await platform.call<OperationBody>(
      'GET',
      `/projects/${platform.projectId}/operations/${written[0]}`,
    );
    expect(found.status).toBe(200);
    const installation = await platform.call<{ integrationId: string; config: { id: string } }>(
      'GET',
      `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}`,
    );
    expect(found.body).toMatchObject({
      id: written[0],
      projectId: platform.projectId,
      integrationId: installation.body.integrationId,
      installationId: customer.installationId,
      configId: installation.body.config.id,
      actionType: 'write',
      status: 'success',
      result: '[contacts] 1 record created.',
      resource: 'contacts',
    });
    for (const time of [found.body.createTime, found.body.updateTime])
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    expect(found.body.createTime <= found.body.updateTime).toBe(true);
    expect(found.body.metadata).toMatchObject({
      objects: ['contacts'],
      successfulRecordIds: [expect.any(String)],
    });
    expect((await platform.call('GET', at(written[0]!))).body).toEqual(found.body);
  });

  it('§3, §2.7 a failed operation says why, with the object in brackets', async () => {
    const refused = await customer.write('contacts', { type: 'create', record: { nope: 1 } });
    const found = await customer.operation(refused.body.operationId);
    expect(found).toMatchObject({
      status: 'failure',
      result: expect.stringMatching(/^\[contacts\] validation: .*nope/),
      errors: [{ index: 0, category: 'validation', retryable: false }],
    });
  });

  it('§3 an operation that waits is in_progress and moves once', async () => {
    const taken = await customer.write('contacts', {
      type: 'create',
      mode: 'asynchronous',
      record: { email: 'wait@example.com' },
    });
    const first = await customer.operation(taken.body.operationId);
    expect(['in_progress', 'success']).toContain(first.status);
    const done = await customer.settled(taken.body.operationId);
    expect(done.status).toBe('success');
    expect(await customer.operation(taken.body.operationId)).toEqual(done);
  });

  it('§4.3 an unknown id, a malformed one and another project’s are not found', async () => {
    for (const id of [absentId, 'nonsense', `${written[0]}x`]) {
      expect(await platform.call('GET', at(id))).toMatchObject({ status: 404, body: { code: 'not-found' } });
      expect(await platform.call('GET', `${at(id)}/logs`)).toMatchObject({ status: 404 });
      expect(await platform.call('GET', `${at(id)}/records`)).toMatchObject({ status: 404 });
    }
    const other = await platform.call<{ name: string; apiKey: { key: string } }>('POST', '/projects', {
      name: 'other',
    });
    const { key } = other.body.apiKey;
    expect(
      await platform.call('GET', `/projects/other/operations/${written[0]}`, undefined, { key }),
    ).toMatchObject({ status: 404 });
    expect(await platform.call('GET', at(written[0]!), undefined, { key })).toMatchObject({ status: 404 });
  });

  it('a key that is confined to another group does not see them', async () => {
    const made = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
      label: 'g',
      scopes: ['write'],
      groupRef: 'globex',
    });
    const key = { key: made.body.key };
    expect(await platform.call('GET', at(written[0]!), undefined, key)).toMatchObject({ status: 404 });
    expect(await platform.call('GET', listAt(), undefined, key)).toMatchObject({ status: 404 });
    const own = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
      label: 'g',
      scopes: ['write'],
      groupRef: 'acme',
    });
    expect(await platform.call('GET', at(written[0]!), undefined, { key: own.body.key })).toMatchObject({
      status: 200,
    });
  });

  it('the operations of an installation are listed newest first, in pages', async () => {
    const all = (await list()).body;
    expect(all.pagination).toEqual({ done: true });
    const ids = all.results.map(({ id }) => id);
    expect(ids.slice(-5)).toEqual(written.toReversed());
    const seen: string[] = [];
    let query = '?pageSize=2';
    for (let pages = 0; pages < 20; pages++) {
      const page = (await list(query)).body;
      expect(page.results.length).toBeLessThanOrEqual(2);
      seen.push(...page.results.map(({ id }) => id));
      if (page.pagination.done) break;
      query = `?pageSize=2&pageToken=${encodeURIComponent(page.pagination.nextPageToken ?? '')}`;
    }
    expect(seen).toEqual(ids);
    expect(all.results[0]).toEqual(await customer.operation(ids[0]!));
  });

  it('refuses page sizes out of range and invalid page tokens', async () => {
    for (const query of ['pageSize=0', 'pageSize=1001', 'pageSize=x', 'pageToken=rubbish', 'page=2']) {
      const refused = await list<ProblemBody>(`?${query}`);
      expect(refused).toMatchObject({
        status: 400,
        body: { issues: [{ in: 'query', name: query.split('=')[0] }] },
      });
    }
    const nobody = listAt().replace(customer.installationId, absentId);
    expect(await platform.call('GET', nobody)).toMatchObject({ status: 404 });
    expect(await platform.call('GET', listAt().replace('hubspot-crm', 'salesforce-crm'))).toMatchObject({
      status: 404,
    });
  });

  it('the log of an operation tells what happened, oldest first', async () => {
    const refused = await customer.write('contacts', { type: 'create', record: { nope: 1 } });
    const logs = await platform.call<
      { timestamp: string; severity: string; message: Record<string, unknown> }[]
    >('GET', `${at(refused.body.operationId)}/logs`);
    expect(logs.body).toMatchObject([
      {
        severity: 'error',
        message: {
          msg: expect.stringContaining('[contacts]'),
          operation_id: refused.body.operationId,
          details: { object: 'contacts', category: 'validation' },
        },
      },
    ]);
    expect(logs.body[0]?.timestamp).toMatch(/Z$/);
  });

  it('the records of an operation are paged in the order of the request', async () => {
    const batch = ['a', 'b', 'c'].map((name) => ({
      record: { email: `page-${name}@example.com` },
      reference: name,
    }));
    const made = await customer.write('contacts', { type: 'create', batch });
    const path = `${at(made.body.operationId)}/records`;
    const first = await platform.call<Page<{ reference: string; recordId: string }>>(
      'GET',
      `${path}?pageSize=2`,
    );
    expect(first.body.results.map(({ reference }) => reference)).toEqual(['a', 'b']);
    expect(first.body.pagination.done).toBe(false);
    const second = await platform.call<typeof first.body>(
      'GET',
      `${path}?pageSize=2&pageToken=${first.body.pagination.nextPageToken}`,
    );
    expect(second.body).toMatchObject({
      results: [{ index: 2, reference: 'c', success: true, errors: [], resolution: 'applied' }],
      pagination: { done: true },
    });
    expect([...first.body.results, ...second.body.results].map(({ recordId }) => recordId)).toEqual(
      made.body.results?.map(({ recordId }) => recordId),
    );
    expect(await platform.call('GET', `${path}?pageToken=rubbish`)).toMatchObject({ status: 400 });
  });

  it('the installation shows how its last operation ended', async () => {
    const path = `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}`;
    await customer.write('contacts', { type: 'create', record: { nope: 1 } });
    await expect
      .poll(async () => (await platform.call('GET', path)).body, { timeout: 5_000 })
      .toMatchObject({ lastOperationStatus: 'failure' });
    await customer.write('contacts', { type: 'create', record: { email: 'last@example.com' } });
    await expect
      .poll(async () => (await platform.call('GET', path)).body, { timeout: 5_000 })
      .toMatchObject({ lastOperationStatus: 'success', healthStatus: 'healthy' });
  });

  it('operations stay with their group when its installation is deleted, until they are erased', async () => {
    const left = await install(platform, 'hubspot-crm', 'left');
    const { body } = await left.write('contacts', { type: 'create', record: { email: 'left@example.com' } });
    const keyOf = async (groupRef: string) => {
      const given = { label: groupRef, scopes: ['read'], groupRef };
      return (await platform.call<{ key: string }>('POST', '/projects/default/api-keys', given)).body;
    };
    const [own, another] = [await keyOf('left'), await keyOf('acme')];
    const path = '/projects/default/integrations/hubspot-crm/installations';
    expect((await platform.call('DELETE', `${path}/${left.installationId}`)).status).toBe(204);
    const ofGroup = async (options?: { key: string }): Promise<string[]> => {
      const listed = '/projects/default/operations?groupRef=left';
      const found = await platform.call<Page<OperationBody>>('GET', listed, undefined, options);
      return found.body.results.map(({ id }) => id);
    };
    expect(await ofGroup()).toEqual([body.operationId]);
    expect(await ofGroup(own)).toEqual([body.operationId]);
    expect(await ofGroup(another)).toEqual([]);
    const seen = await platform.call<OperationBody>('GET', at(body.operationId), undefined, own);
    expect(seen).toMatchObject({
      status: 200,
      body: { groupRef: 'left', installationId: left.installationId },
    });
    expect((await platform.call('GET', at(body.operationId), undefined, another)).status).toBe(404);
    const again = await install(platform, 'hubspot-crm', 'left');
    const next = await again.write('contacts', { type: 'create', record: { email: 'again@example.com' } });
    expect(await ofGroup()).toEqual([next.body.operationId, body.operationId]);
    await platform.call('POST', '/projects/default/erasures', { groupRef: 'left' });
    await expect.poll(() => ofGroup(), { timeout: 10_000 }).toEqual([]);
  });
});
