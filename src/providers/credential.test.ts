import { describe, expect, it } from 'vitest';
import { loadCatalog } from './catalog.ts';
import { credentialHeaders, type ClearCredential } from './credential.ts';

const catalog = loadCatalog();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const cases: [string, ClearCredential, { headers?: object; query?: object }][] = [
  ['hubspot', { kind: 'oauth2', accessToken: 't' }, { headers: { authorization: 'Bearer t' } }],
  ['shopify', { kind: 'oauth2', accessToken: 't' }, { headers: { 'x-shopify-access-token': 't' } }],
  ['stripe', { kind: 'apiKey', apiKey: 'k' }, { headers: { authorization: 'Bearer k' } }],
  ['iterable', { kind: 'apiKey', apiKey: 'k' }, { headers: { 'api-key': 'k' } }],
  ['smartlead', { kind: 'apiKey', apiKey: 'k' }, { query: { api_key: 'k' } }],
  [
    'freshdesk',
    { kind: 'basic', username: 'ü', password: 'a:b' },
    { headers: { authorization: `Basic ${base64('ü:a:b')}` } },
  ],
  ['ashby', { kind: 'apiKey', apiKey: '$&' }, { headers: { authorization: `Basic ${base64('$&:')}` } }],
  [
    'copper',
    { kind: 'custom', values: { apiKey: 'k', userEmail: 'a@b.co' } },
    { headers: { 'x-pw-accesstoken': 'k', 'x-pw-application': 'developer_api', 'x-pw-useremail': 'a@b.co' } },
  ],
  ['hubspot', { kind: 'none' }, {}],
];

describe('src/providers/credential', () => {
  it.each(cases)('puts the credential of %s where the provider wants it', (name, credential, expected) => {
    expect(credentialHeaders(catalog.get(name), credential)).toEqual({ headers: {}, query: {}, ...expected });
  });

  it('puts a key that stands for the password there, in its format', () => {
    const provider = {
      ...catalog.get('ashby'),
      basicOpts: {
        apiKeyAsBasic: true,
        apiKeyAsBasicOpts: { fieldUsed: 'password', keyFormat: 'x-{{apiKey}}' } as const,
      },
    };
    expect(credentialHeaders(provider, { kind: 'apiKey', apiKey: 'k' }).headers).toEqual({
      authorization: `Basic ${base64(':x-k')}`,
    });
  });

  it('fills custom templates from the connection’s metadata, too, and says what is missing', () => {
    const copper = catalog.get('copper');
    expect(
      credentialHeaders(copper, { kind: 'custom', values: { apiKey: 'k' } }, { userEmail: 'a@b.co' }).headers,
    ).toMatchObject({ 'x-pw-useremail': 'a@b.co' });
    expect(() => credentialHeaders(copper, { kind: 'custom', values: { apiKey: 'k' } })).toThrow(
      /customAuth\.userEmail: is required/,
    );
  });

  it('refuses a secret that would end the header, without showing it', () => {
    const sent = (): unknown =>
      credentialHeaders(catalog.get('stripe'), { kind: 'apiKey', apiKey: 'secret\r\nHost: evil' });
    expect(sent).toThrow(/characters that no header may hold/);
    expect(sent).not.toThrow(/secret/);
    expect(() =>
      credentialHeaders(catalog.get('freshdesk'), { kind: 'basic', username: 'a:b', password: 'c' }),
    ).toThrow(/colon/);
  });
});
