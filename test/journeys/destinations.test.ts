import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, good } from '../../src/deliveries/harness.fixture.ts';
import { newId } from '../../src/kit/ids.ts';
import {
  installations,
  verify,
  openDeliveryPlatform,
  type DeliveryPlatform,
  type Destination,
  type Problem,
} from '../delivery-platform.ts';
import type { CallOptions } from '../platform.ts';

describe('test/journeys/destinations', () => {
  let at: DeliveryPlatform;
  beforeAll(async () => {
    at = await openDeliveryPlatform();
  });
  afterAll(() => at?.close());

  it('is created, listed and changed; what is wrong is named by its path; secrets are shown to scope full only', async () => {
    const receiver = await at.receive();
    const made = await at.create('shown', receiver.url);
    expect(made).toMatchObject({
      name: 'shown',
      type: 'webhook',
      status: 'active',
      metadata: { url: receiver.url },
    });
    expect(made).not.toHaveProperty('secrets');
    expect(await at.keyOf(made)).toMatch(/^whsec_[\w+/]{43}=$/);
    const reading = await at.must(
      at.call<{ key: string }>('POST', '/api-keys', { label: 'r', scopes: ['read'] }),
    );
    const refused = await at.call<Problem>('GET', '/destinations/shown?includeSecrets=true', undefined, {
      key: reading.key,
    });
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    const [entry] = await at.test.database.raw(
      `SELECT target_id FROM audit_log WHERE action = 'destination.disclosed'`,
    );
    expect(entry).toEqual({ target_id: made.id });

    const wrong: [object, number, string?][] = [
      [{ name: 'SHOWN', type: 'webhook', metadata: { url: receiver.url } }, 409],
      [{ name: newId(), type: 'webhook', metadata: { url: receiver.url } }, 400, 'name'],
      [{ name: 'a b', type: 'webhook', metadata: { url: receiver.url } }, 400, 'name'],
      [{ name: 'a', type: 'pigeon', metadata: {} }, 400, 'type'],
      [{ name: 'a', type: 'webhook', metadata: {} }, 400, 'metadata.url'],
      [{ name: 'a', type: 'webhook', metadata: { url: 'http://example.com' } }, 400, 'metadata.url'],
      [
        { name: 'a', type: 'webhook', metadata: { url: receiver.url }, secrets: { webhookSigningKey: 'x' } },
        400,
        'secrets.webhookSigningKey',
      ],
    ];
    for (const [body, status, name] of wrong) {
      const answer = await at.call<Problem>('POST', '/destinations', body);
      expect([answer.status, answer.body.issues?.[0]?.name]).toEqual([status, name]);
    }
    const listed = await at.must(at.call<Destination[]>('GET', '/destinations'));
    expect(listed.map(({ name }) => name)).toEqual(['shown']);
    const changed = await at.must(
      at.call<Destination>('PATCH', '/destinations/shown', {
        updateMask: ['name', 'metadata.headers'],
        destination: {
          name: 'renamed',
          metadata: { headers: { 'x-of': 'mine' }, url: 'https://ignored.example.com' },
        },
      }),
    );
    expect(changed).toMatchObject({
      id: made.id,
      name: 'renamed',
      metadata: { url: receiver.url, headers: { 'x-of': 'mine' } },
    });
    expect((await at.call('GET', '/destinations/shown')).status).toBe(404);
    const bad = await at.call<Problem>('PATCH', '/destinations/renamed', {
      updateMask: ['metadata.url'],
      destination: { metadata: { url: 'nowhere' } },
    });
    expect([bad.status, bad.body.issues?.[0]?.name]).toEqual([400, 'metadata.url']);
    const unset = { updateMask: ['metadata.headers'], destination: { metadata: { headers: null } } };
    expect((await at.must(at.call<Destination>('PATCH', '/destinations/renamed', unset))).metadata).toEqual({
      url: receiver.url,
    });
  });

  it('shows secrets in its address only to callers who may see them, and refuses the address without them', async () => {
    const receiver = await at.receive();
    const url = `${receiver.url}?token=s3cret`;
    const shown = `${receiver.url}?token=…`;
    const made = await at.must(
      at.call<Destination>('POST', '/destinations', { name: 'hidden', type: 'webhook', metadata: { url } }),
    );
    expect(made.metadata).toEqual({ url });
    const { key } = await at.must(
      at.call<{ key: string }>('POST', '/api-keys', { label: 'support', scopes: ['read', 'remediate'] }),
    );
    for (const [method, path] of [
      ['GET', '/destinations/hidden'],
      ['POST', '/destinations/hidden:disable'],
      ['POST', '/destinations/hidden:enable'],
    ] as const) {
      const seen = await at.must(at.call<Destination>(method, path, undefined, { key }));
      expect([path, seen.metadata]).toEqual([path, { url: shown }]);
    }
    const back = { updateMask: ['metadata.url'], destination: { metadata: { url: shown } } };
    const refused = await at.call<Problem>('PATCH', '/destinations/hidden', back);
    expect([refused.status, refused.body.issues?.[0]?.name]).toEqual([400, 'metadata.url']);
    const moved = `${receiver.url}/moved?token=s3cret2`;
    const change = { updateMask: ['metadata.url'], destination: { metadata: { url: moved } } };
    expect((await at.must(at.call<Destination>('PATCH', '/destinations/hidden', change))).metadata).toEqual({
      url: moved,
    });
    const told = await at.test.database.raw(
      `SELECT details::text AS details FROM audit_log WHERE target_id = $1`,
      [made.id],
    );
    expect(JSON.stringify(told)).toContain('token=…');
    expect(JSON.stringify(told)).not.toContain('s3cret');
  });

  it('is tried with a message of its own, and what the other side said is the answer', async () => {
    const receiver = await at.receive();
    const made = await at.create('tried', receiver.url);
    receiver.answer = (response) => response.writeHead(418).end('short and stout');
    const said = await at.must(at.call<Record<string, unknown>>('POST', '/destinations/tried:test'));
    expect(said).toMatchObject({ success: false, status: 418, answer: 'short and stout' });
    expect(verify(await at.keyOf(made), receiver.received[0]!)).toMatchObject({
      action: 'test',
      destinationName: 'tried',
    });
    receiver.answer = good;
    expect(await at.must(at.call('POST', '/destinations/tried:test'))).toMatchObject({
      success: true,
      status: 204,
    });
    expect((await at.list('destination=tried')).results).toEqual([]);
  });

  it('the log shows each group its own, by every filter, page by page; what is over is sent again by hand', async () => {
    const receiver = await at.receive();
    const made = await at.create('logged', receiver.url);
    const acme = await at.queue(made.id, 5, 'acme');
    const globex = await at.queue(made.id, 3, 'globex');
    await at.withStatus(made, 'delivered', 8);
    const ids = async (query: string, options?: CallOptions) =>
      (await at.list(`destination=logged&${query}`, options)).results.map(({ id }) => id);
    const newest = [...acme, ...globex].toSorted().toReversed();
    expect(await ids('')).toEqual(newest);
    expect(await ids('groupRef=globex')).toEqual(globex.toSorted().toReversed());
    expect(await ids(`installationId=${installations.acme}`)).toEqual(acme.toSorted().toReversed());
    expect(await ids('object=people')).toEqual(newest);
    expect(await ids('object=contacts')).toEqual(newest);
    for (const name of ['people', 'contacts'])
      expect((await at.list(`object=${name}&pageSize=8`)).results.map(({ id }) => id)).toEqual(newest);
    for (const nothing of [
      'object=companies',
      'status=failed',
      'status=pending',
      'status=canceled',
      `operationId=${newId()}`,
      'installationId=x',
      'from=2100-01-01T00:00:00Z',
      'to=2000-01-01T00:00:00Z',
    ])
      expect([nothing, await ids(nothing)]).toEqual([nothing, []]);
    const first = await at.list('destination=logged&pageSize=5');
    const rest = await at.list(`destination=logged&pageSize=5&pageToken=${first.pagination.nextPageToken}`);
    expect([...first.results, ...rest.results].map(({ id }) => id)).toEqual(newest);
    expect(rest.pagination.done).toBe(true);

    const confined = await at.must(
      at.call<{ key: string }>('POST', '/api-keys', { label: 'g', scopes: ['full'], groupRef: 'globex' }),
    );
    expect(await ids('', { key: confined.key })).toEqual(globex.toSorted().toReversed());
    const as = { key: confined.key };
    for (const [method, path, status] of [
      ['GET', `/deliveries/${acme[0]}`, 404],
      ['POST', `/deliveries/${acme[0]}:retry`, 404],
      ['GET', `/deliveries/${globex[0]}`, 200],
      ['GET', '/destinations', 403],
    ] as const)
      expect([path, (await at.call(method, path, undefined, as)).status]).toEqual([path, status]);

    const id = acme[0]!;
    const detail = await at.must(
      at.call<{ body: string; attempts: unknown[] }>('GET', `/deliveries/${id}?includeBody=true`),
    );
    const sent = receiver.received.find(({ headers }) => headers['webhook-id'] === id)!;
    expect(detail.body).toBe(sent.body);
    expect(detail.attempts).toEqual([
      { time: expect.any(String) as string, status: 204, latencyMs: expect.any(Number) as number },
    ]);
    receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 1_000);
    expect(await at.must(at.call('POST', `/deliveries/${id}:retry`))).toMatchObject({
      id,
      status: 'pending',
    });
    expect((await at.call<Problem>('POST', `/deliveries/${id}:retry`)).body.code).toBe('delivery-pending');
    const again = await eventually(
      () => receiver.received.filter(({ headers }) => headers['webhook-id'] === id),
      (all) => all.length === 2,
    );
    expect([again[1]!.body, again[1]!.headers['x-svc-replay']]).toEqual([sent.body, 'true']);
  });

  it('is deleted with what waits for it only where that is said', async () => {
    const receiver = await at.receive();
    const made = await at.create('deleted', receiver.url);
    await at.must(at.call('POST', '/destinations/deleted:disable'));
    const ids = await at.queue(made.id, 4);
    expect((await at.list('destination=deleted&status=pending')).results).toHaveLength(4);
    const refused = await at.call<Problem>('DELETE', '/destinations/deleted');
    expect([refused.status, refused.body.code]).toEqual([409, 'deliveries-waiting']);
    expect((await at.call('DELETE', '/destinations/deleted?cancelPending=true')).status).toBe(204);
    const canceled = await eventually(
      () => at.list(`destination=${made.id}&status=canceled`),
      ({ results }) => results.length === 4,
    );
    expect(canceled.results.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const byName = await at.call<Problem>('GET', '/deliveries?destination=deleted');
    expect([byName.status, byName.body.detail]).toEqual([404, 'There is no destination deleted.']);
    expect(receiver.received).toEqual([]);
    expect((await at.call<Problem>('POST', `/deliveries/${ids[0]}:retry`)).status).toBe(404);
  });
});
