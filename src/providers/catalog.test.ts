import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compileCheck } from '../kit/http/validation.ts';
import { loadCatalog } from './catalog.ts';
import { abilitiesOf, connectorOf } from './connectors.ts';
import { ProviderDeclaration } from './declaration/schema.ts';
import { providerInfo } from './info.ts';
import { ProviderInfo } from './schema.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-catalog-'));
afterAll(() => rmSync(directory, { recursive: true }));

const plain =
  'name: acme\ndisplayName: Acme\nauthType: apiKey\nbaseURL: https://api.acme.example\napiKeyOpts: { attachmentType: header, header: { name: X-Key } }\n';

function loading(file: string, text: string): () => unknown {
  return () => {
    const place = mkdtempSync(join(directory, 'case-'));
    writeFileSync(join(place, file), text);
    return loadCatalog({ directory: place });
  };
}

describe('src/providers/catalog', () => {
  const catalog = loadCatalog();

  it('holds a provider of each kind of authentication', () => {
    const kinds = catalog
      .list()
      .map(({ authType, oauth2Opts, apiKeyOpts, basicOpts }) =>
        [authType, oauth2Opts?.grantType, apiKeyOpts?.attachmentType, basicOpts?.apiKeyAsBasic && 'key']
          .filter(Boolean)
          .join(' '),
      );
    expect(new Set(kinds)).toEqual(
      new Set([
        'oauth2 authorizationCode',
        'oauth2 authorizationCodePKCE',
        'oauth2 clientCredentials',
        'oauth2 password',
        'jwt jwtBearer',
        'apiKey header',
        'apiKey query',
        'basic',
        'basic key',
        'custom',
      ]),
    );
  });

  it('shows every provider with what its connector supports', () => {
    const check = compileCheck(ProviderInfo);
    for (const provider of catalog.list())
      expect({ [provider.name]: check(providerInfo(provider), 'body').issues }).toEqual({
        [provider.name]: [],
      });
    expect(providerInfo(catalog.get('hubspot'))).toMatchObject({
      support: {
        proxy: true,
        write: true,
        delete: true,
        batchWrite: { create: { supported: true, defaultRecordLimit: 100 }, delete: { supported: false } },
      },
    });
    // Salesforce asks which account itself; Jira's addresses need it.
    const isAccountNeeded = (name: string) =>
      providerInfo(catalog.get(name)).oauth2Opts?.explicitWorkspaceRequired;
    expect(['salesforce', 'jira'].map(isAccountNeeded)).toEqual([false, true]);
    expect(providerInfo(catalog.get('docusign'))).toMatchObject({
      postAuthInfoNeeded: true,
      metadata: { input: [], postAuthentication: [{ name: 'server' }, { name: 'accountId' }] },
    });
    expect(JSON.stringify(providerInfo(catalog.get('notion')))).not.toContain('notion-version');
    expect(providerInfo(catalog.get('stripe')).support).toMatchObject({
      proxy: true,
      write: false,
      read: false,
      delete: false,
    });
  });

  it('says of no module and no provider that it can what nothing here does', () => {
    const { support, modules } = providerInfo(catalog.get('salesforce'));
    expect(support).toMatchObject({ proxy: true, read: true, write: true, subscribe: false, delete: true });
    expect(modules?.['crm']?.support).toEqual(support);
    const none = providerInfo(catalog.get('notion')).support;
    expect(modules?.['account-engagement']?.support).toEqual(none);
    expect(none).toMatchObject({ proxy: true, read: false, write: false, subscribe: false, delete: false });
    for (const { name } of catalog.list()) {
      const write = connectorOf(name)?.write !== undefined;
      const read = connectorOf(name)?.read !== undefined;
      expect(providerInfo(catalog.get(name)).support).toMatchObject({
        proxy: true,
        read,
        write,
        subscribe: false,
      });
    }
  });

  it('computes abilities from what a connector has', () => {
    const all = {
      write: ['create', 'update', 'delete', 'upsert'],
      batchWrite: true,
      delete: true,
      ifEmpty: true,
      describe: true,
      read: true,
      batchLimit: 100,
    };
    expect(abilitiesOf('hubspot')).toMatchObject({ ...all, associations: true, forwardHeaders: false });
    expect(abilitiesOf('salesforce')).toMatchObject({ ...all, associations: false, forwardHeaders: true });
    expect(abilitiesOf('constructor')).toMatchObject({ write: [], batchWrite: false, batchLimit: 1 });
  });

  it('finds the keys of others beside ours, and says which module is meant where there are several', () => {
    for (const [alias, name] of [
      ['zoho', 'zohoCrm'],
      ['atlassian', 'jira'],
    ] as const)
      expect(catalog.get(alias)).toEqual({ ...catalog.get(name), name: alias });
    for (const { name, modules, defaultModule } of catalog.list().filter((one) => one.modules))
      expect([name, Object.keys(modules ?? {})]).toEqual([name, expect.arrayContaining([defaultModule])]);
    expect(Object.keys(providerInfo(catalog.get('salesforce')).modules ?? {})).toContain(
      'account-engagement',
    );
    expect(loading('two.yaml', `${plain.replace('acme', 'two')}aliases: [hubspot]\n`)).toThrow(
      /a provider hubspot already/,
    );
    expect(
      loading('acme.yaml', `${plain}modules: { crm: { displayName: CRM, baseURL: https://a.example } }\n`),
    ).toThrow(/modules need a defaultModule/);
  });

  // What the vendors' documents say; a token that is thought to last is lost with its first renewal.
  it.each(['close', 'todoist', 'gong', 'hubspot'])('knows whether %s answers a new refresh token', (name) => {
    expect(catalog.get(name).oauth2Opts?.refreshTokenRotates ?? false).toBe(name !== 'hubspot');
  });

  it.each([
    ['smartsheet', 'domain', ['smartsheet.com', 'smartsheet.eu', 'smartsheet.au', 'smartsheetgov.com']],
    ['mixpanel', 'host', ['mixpanel.com', 'eu.mixpanel.com', 'in.mixpanel.com']],
  ])('knows every region of %s', (name, input, hosts) => {
    expect(catalog.get(name).allowedValues?.[input]).toEqual(expect.arrayContaining(hosts));
  });

  it('finds by name, exactly', () => {
    expect(catalog.find('HubSpot')).toBeUndefined();
    expect(catalog.find('constructor')).toBeUndefined();
    expect(() => catalog.get('HubSpot')).toThrow(/no provider "HubSpot"/);
  });

  it('moves every URL of a provider to the operator’s origin, and no other provider', () => {
    const moved = loadCatalog({
      origins: { salesforce: 'http://127.0.0.1:9', slack: 'https://sandbox.example' },
    });
    const salesforce = JSON.stringify(moved.get('salesforce'));
    expect(salesforce).not.toContain('https://{{');
    expect(moved.get('salesforce').oauth2Opts?.tokenURL).toBe('http://127.0.0.1:9/services/oauth2/token');
    expect(moved.get('salesforce').authHealthCheck?.url).toBe(
      'http://127.0.0.1:9/services/data/v60.0/limits',
    );
    expect(moved.get('slack').baseURL).toBe('https://sandbox.example/api');
    expect(moved.get('slack').docsURL).toBe('https://docs.slack.dev/');
    expect(moved.get('hubspot')).toEqual(catalog.get('hubspot'));
  });

  it.each([
    ['nobody', 'http://127.0.0.1:9', /origin of nobody: there is no such provider in the catalogue$/],
    ['hubspt', 'http://127.0.0.1:9', /SVC_PROVIDER_ORIGINS, origin of hubspt: .* did you mean hubspot\?/],
    ['hubspot', 'not a url', /origin of hubspot/],
    ['hubspot', 'http://127.0.0.1:9/path', /scheme, host and port only/],
    ['hubspot', 'file:///etc', /not an http or https URL/],
  ])('refuses the origin %s=%s', (name, origin, expected) => {
    expect(() => loadCatalog({ origins: { [name]: origin } })).toThrow(expected);
  });

  it.each([
    ['a wrong type', plain.replace('apiKey\n', 'magic\n'), /acme\.yaml: authType must be one of/],
    ['an unknown key', `${plain}baseUrl: x\n`, /acme\.yaml: baseUrl is not a known property/],
    ['a missing key', plain.replace(/baseURL.*\n/, ''), /acme\.yaml: baseURL is required/],
    ['plain http', plain.replace('https:', 'http:'), /acme\.yaml: baseURL/],
    [
      'a variable that nobody gives',
      plain.replace('api.acme', '{{region}}.acme'),
      /\{\{region\}\} is not an input/,
    ],
    ['a missing block', plain.replace('apiKey\n', 'oauth2\n'), /needs oauth2Opts/],
    ['another name', plain.replace('name: acme', 'name: other'), /name must be acme/],
    ['a key twice', `${plain}displayName: Again\n`, /acme\.yaml: .*unique/],
    ['no YAML', 'a: [', /acme\.yaml: /],
    [
      'several labels at the end of a host',
      `${plain.replace('api.acme.example', 'api.{{workspace}}')}metadata: { input: [{ name: workspace }] }\ndottedInputs: [workspace]\n`,
      /must be an input that stands before a fixed host/,
    ],
    [
      'several labels before a domain that may be a whole part of the network',
      `${plain.replace('api.acme.example', '{{workspace}}.{{domain}}')}metadata: { input: [{ name: workspace }, { name: domain }] }\ndottedInputs: [workspace]\nallowedValues: { domain: [acme.example, com] }\n`,
      /must be an input that stands before a fixed host/,
    ],
    [
      'a host of the customer that would get the client secret',
      `${plain.replace(/authType.*\n/, 'authType: oauth2\n').replace('api.acme.example', '{{host}}')}metadata: { input: [{ name: host }] }\nhostInputs: [host]\noauth2Opts: { grantType: authorizationCode, authURL: "https://{{host}}/a", tokenURL: "https://{{host}}/t", pkce: true, scopeSeparator: " ", explicitScopesRequired: false, explicitWorkspaceRequired: false, tokenClientAuth: body, tokenMetadataFields: {} }\n`,
      /hostInputs: \{\{host\}\} would let a customer choose who receives the client secret/,
    ],
    [
      'a host of the customer inside another host',
      `${plain.replace('api.acme.example', 'api.{{host}}')}metadata: { input: [{ name: host }] }\nhostInputs: [host]\n`,
      /hostInputs: \{\{host\}\} must be an input that is the whole host/,
    ],
    [
      'a variable that is known too late',
      `${plain.replace('apiKey\n', 'oauth2\n').replace('api.acme.example', '{{dc}}.acme.example')}postAuth: { url: "https://{{dc}}.acme.example/me", otherFields: [{ name: dc, path: dc }] }\noauth2Opts: { grantType: authorizationCode, authURL: "https://acme.example/a", tokenURL: "https://acme.example/t", pkce: true, scopeSeparator: " ", explicitScopesRequired: false, explicitWorkspaceRequired: false, tokenClientAuth: body, tokenMetadataFields: {} }\n`,
      /\{\{dc\}\} is not an input of metadata or customOpts, nor known by the time it is needed/,
    ],
    [
      'allowed values of nothing',
      `${plain}allowedValues: { region: [eu] }\n`,
      /allowedValues: region is not a variable/,
    ],
  ])('refuses a file with %s, naming the file and the place', (_name, text, expected) => {
    expect(loading('acme.yaml', plain)).not.toThrow();
    expect(loading('acme.yaml', text)).toThrow(expected);
  });

  it('lets several labels stand before one of some domains', () => {
    const text = `${plain.replace('api.acme.example', '{{workspace}}.{{domain}}')}metadata: { input: [{ name: workspace }, { name: domain }] }\ndottedInputs: [workspace]\nallowedValues: { domain: [acme.example, acme.test] }\n`;
    expect(loading('acme.yaml', text)).not.toThrow();
  });

  it('speaks of every provider in the words that clients know', () => {
    const words = {
      authType: ['oauth2', 'apiKey', 'basic', 'jwt', 'custom', 'none'],
      grantType: ['authorizationCode', 'authorizationCodePKCE', 'clientCredentials', 'password', undefined],
      attachmentType: ['header', 'query', undefined],
      fieldType: ['fieldTypeText', 'fieldTypePassword', 'fieldTypeSelect'],
    };
    for (const provider of catalog.list()) {
      const { name, authType, oauth2Opts, apiKeyOpts, customOpts, metadata, modules, defaultModule } =
        providerInfo(provider);
      const place = (value: unknown): unknown[] => [name, value];
      const known = (list: readonly unknown[], value: unknown): void =>
        expect(place(list.includes(value) ? value : list)).toEqual(place(value));
      known(words.authType, authType);
      known(words.grantType, oauth2Opts?.grantType);
      for (const opts of [apiKeyOpts, oauth2Opts?.accessTokenOpts])
        known(words.attachmentType, opts?.attachmentType);
      const inputs = customOpts?.inputs ?? [];
      for (const { fieldType, options } of inputs) {
        known(words.fieldType, fieldType);
        expect(place(options !== undefined)).toEqual(place(fieldType === 'fieldTypeSelect'));
      }
      for (const input of [...inputs, ...(metadata?.input ?? [])])
        expect(place([input.name, typeof input.displayName])).toEqual(place([input.name, 'string']));
      known(modules ? Object.keys(modules) : [''], defaultModule);
    }
  });

  it.each(['zoho', 'zohoCrm', 'atlassian', 'jira', 'bigquery'])('knows the provider %s', (name) => {
    expect(providerInfo(catalog.get(name)).name).toBe(name);
  });

  it('is documented: every key, and an example that loads', () => {
    const page = readFileSync(new URL('../../docs/providers/files.md', import.meta.url), 'utf8');
    const { oauth2Opts, ...others } = ProviderDeclaration.properties;
    const keys = [...Object.keys(others), ...Object.keys(oauth2Opts.properties)];
    expect(keys.filter((key) => key !== 'docsURL' && !page.includes(`\`${key}`))).toEqual([]);
    const example = /```yaml\n([^`]*)```/.exec(page)?.[1] ?? '';
    expect(loading('acmeBooks.yaml', example)).not.toThrow();
  });
});
