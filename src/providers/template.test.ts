import { describe, expect, it } from 'vitest';
import { loadCatalog } from './catalog.ts';
import { baseUrlOf, healthCheckUrlOf, providerUrl, resolveTemplate } from './template.ts';

const catalog = loadCatalog();
const zendesk = catalog.get('zendeskSupport');
const salesforce = catalog.get('salesforce');

const notLabels = [
  'evil.com',
  'evil.com/',
  'a/b',
  'a@evil.com',
  'a:b@evil.com#',
  'a#',
  'a?',
  'a\\b',
  'a b',
  'a%2f',
  'ａ',
  'é',
  '-a',
  'a-',
  'a_b',
  'a\n',
  '..',
  '{{workspace}}',
  'a'.repeat(64),
];

describe('src/providers/template', () => {
  it('puts a value into a URL', () => {
    expect(resolveTemplate('https://{{workspace}}.zendesk.com/x', { workspace: 'acme-2' })).toBe(
      'https://acme-2.zendesk.com/x',
    );
  });

  it.each(notLabels)('refuses %j, which is not one label', (workspace) => {
    expect(() => baseUrlOf(zendesk, { workspaceRef: workspace })).toThrow(
      /providerWorkspaceRef: must be one name/,
    );
  });

  it('says which value is missing', () => {
    expect(() => baseUrlOf(zendesk, {})).toThrow(/providerWorkspaceRef: is required/);
    expect(() => resolveTemplate('https://{{region}}.x.com', { region: '' })).toThrow(
      /providerMetadata\.region: is required/,
    );
  });

  it('lets a sandbox of Salesforce be two labels, but nothing else', () => {
    const url = salesforce.oauth2Opts?.tokenURL ?? '';
    expect(providerUrl(salesforce, url, { workspaceRef: 'acme--dev.sandbox' })).toBe(
      'https://acme--dev.sandbox.my.salesforce.com/services/oauth2/token',
    );
    for (const workspaceRef of ['evil.com/', 'a..b', '.a', 'a.', 'a.b@c', 'a.b#']) {
      expect(() => providerUrl(salesforce, url, { workspaceRef })).toThrow(/must be names of letters/);
    }
  });

  it.each([
    'acme.my.salesforce.com',
    'https://acme.my.salesforce.com/',
    'HTTPS://acme.MY.salesforce.com/home?x#y',
  ])('says which part of %s is wanted', (workspaceRef) => {
    expect(() => baseUrlOf(salesforce, { workspaceRef })).toThrow(
      /providerWorkspaceRef: must be the part before \.my\.salesforce\.com alone: acme$/m,
    );
  });

  it('keeps the path of the base URL and drops a slash at its end', () => {
    expect(baseUrlOf(catalog.get('slack'), {})).toBe('https://slack.com/api');
    expect(baseUrlOf({ ...catalog.get('slack'), baseURL: 'https://slack.com/' }, {})).toBe(
      'https://slack.com',
    );
  });

  it.each([
    'https://acme.my.salesforce.com',
    'https://acme.my.salesforce.com/',
    'https://a--b.sandbox.my.salesforce.com/x?y',
  ])('takes the origin of the instance URL %s', (instanceUrl) => {
    expect(baseUrlOf(salesforce, { workspaceRef: 'other', instanceUrl })).toBe(new URL(instanceUrl).origin);
    expect(healthCheckUrlOf(salesforce, { instanceUrl })).toBe(
      `${new URL(instanceUrl).origin}/services/data/v60.0/limits`,
    );
  });

  it.each([
    'https://evil.com',
    'https://my.salesforce.com',
    'https://.my.salesforce.com',
    'https://acme.my.salesforce.com.evil.com',
    'https://evilmy.salesforce.com',
    'https://acme.my.salesforce.com@evil.com',
    'https://user@acme.my.salesforce.com',
    'https://acme.my.salesforce.com:8443',
    'http://acme.my.salesforce.com',
    'https://169.254.169.254/x.my.salesforce.com',
    'https://evil.com#.my.salesforce.com',
    'https://evil.com\\.my.salesforce.com',
    'javascript:1',
    'acme.my.salesforce.com',
  ])('refuses the instance URL %s', (instanceUrl) => {
    expect(() => baseUrlOf(salesforce, { workspaceRef: 'acme', instanceUrl })).toThrow(
      /not one of Salesforce/,
    );
  });

  it('accepts the operator’s origin as an instance, and no other of its kind', () => {
    const moved = loadCatalog({ origins: { salesforce: 'http://127.0.0.1:9' } }).get('salesforce');
    expect(baseUrlOf(moved, { workspaceRef: 'acme', instanceUrl: 'http://127.0.0.1:9' })).toBe(
      'http://127.0.0.1:9',
    );
    expect(baseUrlOf(moved, { workspaceRef: 'acme' })).toBe('http://127.0.0.1:9');
    expect(() => baseUrlOf(moved, { instanceUrl: 'http://127.0.0.1:10' })).toThrow(/not one of Salesforce/);
  });

  it('uses an input’s default value', () => {
    const provider = { ...zendesk, metadata: { input: [{ name: 'workspace', defaultValue: 'acme' }] } };
    expect(baseUrlOf(provider, {})).toBe('https://acme.zendesk.com');
  });

  it('takes only the values that the file allows, where it names them', () => {
    const zoho = catalog.get('zohoCrm');
    const url = zoho.oauth2Opts?.tokenURL ?? '';
    const at = (zohoDomain: string) => providerUrl(zoho, url, { metadata: { zohoDomain } });
    expect(at('zoho.com.au')).toBe('https://accounts.zoho.com.au/oauth/v2/token');
    for (const foreign of ['evil.com', 'zoho.com.evil.com', 'zoho', 'Zoho.com', 'zoho.com/'])
      expect(() => at(foreign)).toThrow(/providerMetadata\.zohoDomain: must be one of zoho\.com, /);
  });

  it('takes a host of the customer’s own where the file asks for one, but no address', () => {
    const woo = catalog.get('woocommerce');
    const at = (storeURL: string) => baseUrlOf(woo, { metadata: { storeURL } });
    expect(at('shop.example.com')).toBe('https://shop.example.com');
    for (const text of [
      'localhost',
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      'https://shop.example.com',
      'shop.example.com/x',
      'shop.example.com:8080',
      'a@shop.example.com',
      'shop..com',
      '.com',
      'shop.example.com.',
      'shop.example.1',
    ])
      expect(() => at(text)).toThrow(/must be a host name/);
  });

  it('takes an underscore in a path, where it can change nothing, but not in a host', () => {
    const workday = catalog.get('workday');
    const url = workday.oauth2Opts?.tokenURL ?? '';
    const at = (workspaceRef: string, tenantName: string) =>
      providerUrl(workday, url, { workspaceRef, metadata: { tenantName } });
    expect(at('wd2', 'acme_dpt1')).toBe('https://wd2.workday.com/ccx/oauth2/acme_dpt1/token');
    expect(() => at('wd_2', 'acme')).toThrow(/providerWorkspaceRef: must be names of letters/);
    for (const text of ['..', 'a/b', 'a?b', 'a%2fb', '-', ''])
      expect(() => at('wd2', text)).toThrow(/tenantName/);
  });

  it('reads a host alone where the token response names no URL', () => {
    const wrike = catalog.get('wrike');
    expect(baseUrlOf(wrike, { instanceUrl: 'app-eu.wrike.com' })).toBe('https://app-eu.wrike.com/api');
    for (const host of [
      'evil.com',
      'wrike.com.evil.com',
      'user@app.wrike.com',
      'app.wrike.com:8443',
      'https://app.wrike.com',
    ])
      expect(() => baseUrlOf(wrike, { instanceUrl: host })).toThrow(/not one of Wrike/);
  });
});
