import { refuse } from '../kit/problem.ts';
import type { Provider } from './provider.ts';
import { isHeaderValue } from './headers.ts';
import { variablesOf } from './template.ts';

/** The secrets of a connection in clear, by the kind of authentication. */
export type ClearCredential =
  | { kind: 'oauth2'; accessToken: string }
  | { kind: 'apiKey'; apiKey: string }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'custom'; values: Readonly<Record<string, string>> }
  | { kind: 'none' };

/** The credential of a request. Header names are lower case. */
export interface CredentialPlace {
  headers: Record<string, string>;
  query: Record<string, string>;
}

/**
 * Where the credential goes in a request, by the provider's declaration. `metadata` fills the templates of custom
 * authentication beside the credential's own values. Throws invalid-request for a value that fits no header.
 */
export function credentialHeaders(
  provider: Provider,
  credential: ClearCredential,
  metadata: Readonly<Record<string, string>> = {},
): CredentialPlace {
  const place = placeOf(provider, credential, metadata);
  const unfit = Object.keys(place.headers).filter((name) => !isHeaderValue(place.headers[name] ?? ''));
  if (unfit.length > 0) {
    throw refuse(
      unfit.map((name) => ({
        in: 'body',
        name,
        detail: 'the credential has characters that no header may hold',
      })),
    );
  }
  return place;
}

function placeOf(
  provider: Provider,
  credential: ClearCredential,
  metadata: Readonly<Record<string, string>>,
): CredentialPlace {
  switch (credential.kind) {
    case 'oauth2':
      return header(provider.oauth2Opts?.accessTokenOpts?.header, 'Bearer ', credential.accessToken);
    case 'apiKey':
      return placeOfKey(provider, credential.apiKey);
    case 'basic':
      return basic(credential.username, credential.password);
    case 'custom':
      return placeOfCustom(provider, { ...metadata, ...credential.values });
    case 'none':
      break;
  }
  return { headers: {}, query: {} };
}

function header(
  form: { name: string; valuePrefix?: string } | undefined,
  prefix: string,
  value: string,
): CredentialPlace {
  const name = (form?.name ?? 'authorization').toLowerCase();
  return { headers: { [name]: (form ? (form.valuePrefix ?? '') : prefix) + value }, query: {} };
}

function placeOfKey(provider: Provider, key: string): CredentialPlace {
  const { apiKeyOpts, basicOpts } = provider;
  if (basicOpts?.apiKeyAsBasic) {
    const { fieldUsed = 'username', keyFormat = '{{apiKey}}' } = basicOpts.apiKeyAsBasicOpts ?? {};
    const text = keyFormat.replaceAll('{{apiKey}}', () => key);
    return fieldUsed === 'username' ? basic(text, '') : basic('', text);
  }
  if (apiKeyOpts?.attachmentType === 'query')
    return { headers: {}, query: { [apiKeyOpts.query?.name ?? 'api_key']: key } };
  return header(apiKeyOpts?.header, 'Bearer ', key);
}

function basic(username: string, password: string): CredentialPlace {
  if (username.includes(':')) {
    throw refuse([{ in: 'body', name: 'basicAuth.username', detail: 'must not contain a colon (RFC 7617)' }]);
  }
  const pair = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  return { headers: { authorization: `Basic ${pair}` }, query: {} };
}

function placeOfCustom(provider: Provider, values: Readonly<Record<string, string>>): CredentialPlace {
  const { headers = [], queryParams = [] } = provider.customOpts ?? {};
  const fill = ({ valueTemplate }: { valueTemplate: string }): string => fillTemplate(valueTemplate, values);
  return {
    headers: Object.fromEntries(headers.map((one) => [one.name.toLowerCase(), fill(one)])),
    query: Object.fromEntries(queryParams.map((one) => [one.name, fill(one)])),
  };
}

function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const missing = variablesOf(template).filter((name) => values[name] === undefined);
  if (missing.length > 0) {
    throw refuse(
      missing.map((name) => ({
        in: 'body',
        name: `customAuth.${name}`,
        detail: 'is required for this provider',
      })),
    );
  }
  return template.replace(/\{\{(\w+)\}\}/g, (_all, name: string) => values[name] ?? '');
}
