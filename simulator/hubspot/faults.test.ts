import { afterEach, describe, expect, it } from 'vitest';
import { listOf, str, useHubspot } from './harness.fixture.ts';

const CONTACTS = '/crm/v3/objects/contacts';

describe('simulator/hubspot/faults', () => {
  const hub = useHubspot({ records: 5 });
  let serial = 0;
  const create = () => {
    serial += 1;
    return hub.api('POST', CONTACTS, { properties: { email: `fault-${serial}@example.com` } });
  };
  const exists = async () => {
    const body = { inputs: [{ id: `fault-${serial}@example.com` }], idProperty: 'email' };
    return (await hub.api('POST', `${CONTACTS}/batch/read`, body)).status === 200;
  };
  const fault = (kind: object, rule: object = {}) =>
    hub.sim('POST', '/faults', { method: 'POST', path: `${CONTACTS}$`, ...rule, fault: kind });
  afterEach(() => hub.sim('DELETE', '/faults'));

  it('answers another status without or with the effect', async () => {
    await fault({ kind: 'status', status: 503, body: { status: 'error' }, headers: { 'retry-after': '1' } });
    const refused = await create();
    expect(refused).toMatchObject({ status: 503, body: { status: 'error' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await exists()).toBe(false);
    await fault({ kind: 'status', status: 502, effect: true });
    expect((await create()).status).toBe(502);
    expect(await exists()).toBe(true);
  });

  it.each([
    ['reset-before', false],
    ['reset-after', true],
    ['truncate', true],
  ])('breaks the connection by %s', async (kind, effect) => {
    await fault({ kind });
    await expect(create()).rejects.toThrow(/fetch failed|terminated/);
    expect(await exists()).toBe(effect);
  });

  it('sends broken JSON and HTML', async () => {
    await fault({ kind: 'malformed' });
    await expect(create()).rejects.toThrow(SyntaxError);
    expect(await exists()).toBe(true);
    await fault({ kind: 'html', status: 504 });
    const page = await create();
    expect(page.status).toBe(504);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await exists()).toBe(false);
  });

  it('delays, and hangs with or without the effect', async () => {
    await fault({ kind: 'delay', ms: 80 });
    const before = Date.now();
    expect((await create()).status).toBe(201);
    expect(Date.now() - before).toBeGreaterThanOrEqual(75);
    for (const effect of [false, true]) {
      await fault({ kind: 'hang', effect });
      serial += 1;
      const body = JSON.stringify({ properties: { email: `fault-${serial}@example.com` } });
      const headers = { authorization: `Bearer ${hub.token}` };
      const call = fetch(`${hub.url}${CONTACTS}`, {
        method: 'POST',
        body,
        headers,
        signal: AbortSignal.timeout(100),
      });
      await expect(call).rejects.toThrow(/timeout/);
      expect(await exists()).toBe(effect);
    }
  });

  it('hits the next N matching requests and no others', async () => {
    await fault(
      { kind: 'status', status: 500 },
      { path: '', object: 'contacts', contains: 'poison', times: 2 },
    );
    expect((await create()).status).toBe(201);
    const poisoned = { properties: { email: 'poison@example.com' } };
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await hub.api('POST', CONTACTS, poisoned)).status);
    expect(statuses).toEqual([500, 500, 201]);
    await fault({ kind: 'status', status: 500 }, { probability: 0.5, times: 1000 });
    let failed = 0;
    for (let i = 0; i < 60; i += 1) failed += (await create()).status === 500 ? 1 : 0;
    expect(failed).toBeGreaterThan(10);
    expect(failed).toBeLessThan(50);
    await expect(hub.sim('POST', '/faults', { fault: { kind: 'nonsense' } })).rejects.toThrow(/fault.kind/);
    const refused = [
      [{ pathh: '/contacts' }, { kind: 'hang' }, 'pathh is not known'],
      [{ times: '2' }, { kind: 'hang' }, 'times must be a number'],
      [{}, { kind: 'hang', effects: true }, 'fault.effects is not known; known here: effect'],
      [{}, { kind: 'delay' }, 'fault.ms is required'],
      [{}, { kind: 'status', status: '500' }, 'fault.status must be a number'],
    ] as const;
    for (const [rule, given, why] of refused)
      await expect(hub.sim('POST', '/faults', { ...rule, fault: given })).rejects.toThrow(why);
  });

  it('keeps a ledger of requests and of their effects', async () => {
    await hub.sim('DELETE', '/requests');
    await fault({ kind: 'reset-after' });
    await create().catch(() => undefined);
    await hub.api('PATCH', `${CONTACTS}/501`, { properties: { city: 'Kyiv' } });
    const requests = listOf((await hub.sim('GET', '/requests?path=contacts'))['requests']);
    const effects = listOf((await hub.sim('GET', '/effects?object=contacts'))['effects']);
    expect(requests).toMatchObject([
      {
        method: 'POST',
        path: CONTACTS,
        status: 0,
        fault: 'reset-after',
        body: expect.stringContaining('fault-'),
      },
      { method: 'PATCH', status: 200, headers: { authorization: expect.stringContaining('Bearer') } },
    ]);
    expect(effects).toMatchObject([
      { kind: 'create', object: 'contacts', requestSeq: requests[0]?.['seq'] },
      { kind: 'update', id: '501', fields: { city: 'Kyiv' }, requestSeq: requests[1]?.['seq'] },
    ]);
    expect(requests[1]?.['effectIds']).toEqual([effects[1]?.['seq']]);
    const later = await hub.sim('GET', `/requests?since=${str(requests[0]?.['seq'])}`);
    expect(listOf(later['requests'])).toHaveLength(1);
  });

  it('takes schema and data through the control API', async () => {
    await hub.sim('POST', '/schema', {
      object: 'contacts',
      properties: [{ name: 'shoe_size', type: 'number' }],
    });
    const put = await hub.sim('POST', '/data', {
      object: 'contacts',
      records: [{ id: '9000', properties: { shoe_size: 42 } }],
    });
    expect(put['ids']).toEqual(['9000']);
    expect((await hub.api('GET', `${CONTACTS}/9000?properties=shoe_size`)).body['properties']).toMatchObject({
      shoe_size: '42',
    });
    await hub.sim('POST', '/schema', {
      objects: [{ name: 'pet', properties: [{ name: 'kind' }], primaryDisplayProperty: 'kind' }],
    });
    expect((await hub.api('POST', '/crm/v3/objects/pet', { properties: { kind: 'cat' } })).status).toBe(201);
    await expect(hub.sim('GET', '/data/nothing')).rejects.toThrow(/404/);
    expect(await hub.sim('GET', '/health')).toMatchObject({ name: 'hubspot', ok: true });
  });

  it('starts over, the same for the same seed', async () => {
    const dump = async (seed: number) => {
      await hub.sim('POST', '/reset', { seed, records: 40 });
      return JSON.stringify(await hub.sim('GET', '/data/contacts'));
    };
    const first = await dump(7);
    expect(await dump(7)).toBe(first);
    expect(await dump(8)).not.toBe(first);
  });
});
