import { afterEach, describe, expect, it } from 'vitest';
import { str, useHubspot } from './harness.fixture.ts';

const OPEN = {
  burstMax: null,
  searchPerSecond: null,
  dailyMax: null,
  migrationRetryAfter: null,
  locked: false,
};

describe('simulator/hubspot/limits', () => {
  const hub = useHubspot({ records: 5 });
  const read = (token?: string) => hub.api('GET', '/crm/v3/objects/contacts/501', undefined, token);
  const search = () => hub.api('POST', '/crm/v3/objects/contacts/search', {});
  const issue = async (body: object) =>
    str((await hub.sim('POST', '/tokens', { action: 'issue', ...body }))['accessToken']);
  afterEach(() => hub.sim('POST', '/quotas', OPEN));

  it('counts calls in ten seconds per account and app', async () => {
    await hub.sim('POST', '/clock', { freezeAt: '2026-01-01T12:00:00Z' });
    const other = await issue({ account: '777' });
    await hub.sim('POST', '/quotas', { burstMax: 3 });
    const token = await issue({});
    const first = await read(token);
    expect(first.headers.get('x-hubspot-ratelimit-max')).toBe('3');
    expect(first.headers.get('x-hubspot-ratelimit-remaining')).toBe('2');
    expect(first.headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
    await read(token);
    await read(token);
    const over = await read(token);
    expect(over.status).toBe(429);
    expect(over.headers.get('retry-after')).toBeNull();
    expect(over.body).toMatchObject({
      status: 'error',
      message: 'You have reached your ten_secondly_rolling limit.',
      errorType: 'RATE_LIMIT',
      policyName: 'TEN_SECONDLY_ROLLING',
      groupName: expect.stringMatching(/^publicapi:/),
    });
    expect((await read(other)).status).toBe(200);
    await hub.sim('POST', '/clock', { advanceMs: 10_000 });
    expect((await read(token)).status).toBe(200);
    await hub.sim('POST', '/clock', { freezeAt: null, shiftMs: 0 });
  });

  it('counts searches apart, per second, without rate headers or policy name', async () => {
    await hub.sim('POST', '/clock', { freezeAt: '2026-01-01T12:00:00Z' });
    const token = await issue({});
    await hub.sim('POST', '/quotas', { searchPerSecond: 2 });
    const once = () => hub.api('POST', '/crm/v3/objects/contacts/search', {}, token);
    const first = await once();
    expect(first.status).toBe(200);
    expect(first.headers.get('x-hubspot-ratelimit-max')).toBeNull();
    await once();
    const over = await once();
    expect(over.status).toBe(429);
    expect(over.body).toMatchObject({
      errorType: 'RATE_LIMIT',
      message: 'You have reached your secondly limit.',
    });
    expect(over.body).not.toHaveProperty('policyName');
    await hub.sim('POST', '/clock', { advanceMs: 1000 });
    expect((await once()).status).toBe(200);
    await hub.sim('POST', '/clock', { shiftMs: 0 });
  });

  it('has a daily limit, a lock and a migration', async () => {
    await hub.sim('POST', '/quotas', { dailyMax: 1 });
    expect((await read()).headers.get('x-hubspot-ratelimit-daily-remaining')).toBe('0');
    const over = await read();
    expect(over.status).toBe(429);
    expect(over.body).toMatchObject({
      policyName: 'DAILY',
      message: 'You have reached your daily limit.',
      requestId: expect.any(String),
    });
    await hub.sim('POST', '/quotas', { ...OPEN, locked: true });
    expect((await read()).status).toBe(423);
    await hub.sim('POST', '/quotas', { ...OPEN, migrationRetryAfter: 3600 });
    const moving = await search();
    expect(moving.status).toBe(477);
    expect(moving.headers.get('retry-after')).toBe('3600');
  });

  it('starts with the documented limits', async () => {
    await hub.sim('POST', '/reset', {});
    expect(await hub.sim('GET', '/quotas')).toMatchObject({
      burstMax: 110,
      burstIntervalMs: 10_000,
      searchPerSecond: 5,
    });
  });
});
