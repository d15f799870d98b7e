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
      expect(() => providerUrl(salesforce, url, { workspaceRef })).toThrow(/must be one name/);
    }
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
});
