import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../providers/index.ts';
import { readTokenAnswer } from './token-answer.ts';

describe('connections/tokens/token-answer', () => {
  const catalog = loadCatalog();
  const read = (provider: string, body: unknown) =>
    readTokenAnswer(catalog.get(provider), typeof body === 'string' ? body : JSON.stringify(body));

  it('reads what each provider adds under its own names', () => {
    expect(
      read('hubspot', { access_token: 'a', expires_in: 1800, hub_id: 62515, user_id: 7, scopes: ['oauth'] }),
    ).toEqual({
      accessToken: 'a',
      expiresInMs: 1_800_000,
      workspaceRef: '62515',
      consumerRef: '7',
      scopes: ['oauth'],
      metadata: {},
    });
    const instanceUrl = 'https://acme.my.salesforce.com';
    expect(
      read('salesforce', {
        access_token: 'a',
        refresh_token: 'r',
        instance_url: instanceUrl,
        scope: 'api id',
      }),
    ).toMatchObject({
      refreshToken: 'r',
      scopes: ['api', 'id'],
      metadata: { instance_url: { value: instanceUrl, source: 'token' } },
    });
  });

  it.each(['a\0', 'a\r\nb: c', '€', ''])('takes %j for no access token', (token) => {
    expect(read('hubspot', { access_token: token, expires_in: 1_800 })).toBeUndefined();
  });

  it('reads nothing that the database cannot keep', () => {
    const said = { access_token: 'a', hub_id: '6\0', user_id: '7\ud83d', scopes: ['o\0'] };
    expect(read('hubspot', said)).toMatchObject({
      workspaceRef: '6\ufffd',
      consumerRef: '7\ufffd',
      scopes: ['o\ufffd'],
    });
    expect(read('salesforce', { access_token: 'a', scope: 'api i\0d' })?.scopes).toEqual(['api', 'i\ufffdd']);
  });

  it('takes a life that is sent as a text, assumes the one of the catalogue, and else knows none', () => {
    expect(read('pipedrive', { access_token: 'a', expires_in: '60' })?.expiresInMs).toBe(60_000);
    expect(read('hubspot', { access_token: 'a' })?.expiresInMs).toBe(1_800_000);
    for (const expires_in of [undefined, null, 0, -1, 'soon']) {
      expect(read('marketo', { access_token: 'a', expires_in })).not.toHaveProperty('expiresInMs');
    }
  });

  it('takes a life of more than ten years for unknown, however it is written', () => {
    const tenYears = 315_360_000;
    expect(read('marketo', { access_token: 'a', expires_in: tenYears })?.expiresInMs).toBe(tenYears * 1000);
    for (const expires_in of [tenYears + 1, 1_764_255_600, 9_007_199_254_740_991, '9223372036854775807']) {
      expect(read('marketo', { access_token: 'a', expires_in })).not.toHaveProperty('expiresInMs');
      expect(read('hubspot', { access_token: 'a', expires_in })?.expiresInMs).toBe(1_800_000);
    }
    expect(read('marketo', '{"access_token":"a","expires_in":1e400}')).not.toHaveProperty('expiresInMs');
  });

  it('finds no token in an answer that only looks like a success', () => {
    for (const body of [
      '',
      '<html>',
      '[]',
      'null',
      { ok: false, error: 'invalid_code' },
      { access_token: '' },
    ]) {
      expect(read('slack', body)).toBeUndefined();
    }
  });
});
