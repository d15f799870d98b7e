import { problem, refuse, type Issue, type Problem } from '../kit/problem.ts';
import type { Provider } from './provider.ts';

/** What of a connection decides the address of its provider. `metadata`: the values of the provider's inputs by name. */
export interface ConnectionPlace {
  workspaceRef?: string | null | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** The API base that the token response named. */
  instanceUrl?: string | null | undefined;
}

const variable = /\{\{(\w+)\}\}/g;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** The names of the variables in a template. */
export function variablesOf(template: string): string[] {
  return [...template.matchAll(variable)].map((match) => match[1] ?? '');
}

/** The forms of values that are not one host label, as a provider's file declares them. */
type Forms = Pick<Provider, 'dottedInputs' | 'hostInputs' | 'allowedValues'> &
  Partial<Pick<Provider, 'displayName' | 'metadata'>>;

/**
 * Puts values for the `{{name}}` of a text. A value is one whole host label (letters, digits, hyphens), so that it can
 * neither change the host's suffix nor leave its place, unless `forms` allow more. Throws invalid-request.
 */
export function resolveTemplate(
  url: string,
  values: Readonly<Record<string, string | undefined>>,
  forms: Forms = {},
): string {
  const host = /^(?:[a-z]+:\/\/)?[^/]*/.exec(url)?.[0] ?? '';
  const issues = variablesOf(url).flatMap((name) =>
    faultOf(name, values[name], forms, restOfHost(host, name)),
  );
  if (issues.length > 0) throw refuse(issues);
  return url.replace(variable, (_all, name: string) => values[name] ?? '');
}

/** What follows the variable in the host; undefined where it stands elsewhere. */
function restOfHost(host: string, name: string): string | undefined {
  const [, rest] = host.split(`{{${name}}}`);
  return rest;
}

/** What is wrong with a value of an input that takes few; undefined where nothing is. */
export function notAllowed(
  { allowedValues }: Pick<Forms, 'allowedValues'>,
  name: string,
  value: string,
): string | undefined {
  const allowed = allowedValues?.[name];
  return allowed && !allowed.includes(value) ? `must be one of ${allowed.join(', ')}` : undefined;
}

function faultOf(name: string, value: string | undefined, forms: Forms, rest: string | undefined): Issue[] {
  const place = {
    in: 'body',
    name: name === 'workspace' ? 'providerWorkspaceRef' : `providerMetadata.${name}`,
  } as const;
  if (value === undefined || value === '') return [{ ...place, detail: needOf(name, forms) }];
  if (forms.allowedValues?.[name]) {
    const detail = notAllowed(forms, name, value);
    return detail === undefined ? [] : [{ ...place, detail, value }];
  }
  const part = rest === undefined ? undefined : partBefore(rest, value);
  if (part !== undefined)
    return [{ ...place, detail: `must be the part before ${rest} alone: ${part}`, value }];
  const labels = value.split('.');
  if (forms.hostInputs?.includes(name)) {
    if (isHostName(labels)) return [];
    return [
      { ...place, detail: 'must be a host name such as shop.example.com, without https:// or a path', value },
    ];
  }
  // Outside of the host an underscore is as harmless (Workday's tenants).
  if (rest === undefined && /^\w[\w-]{0,99}$/.test(value)) return [];
  const mayHaveDots = forms.dottedInputs?.includes(name) ?? false;
  if ((labels.length === 1 || mayHaveDots) && labels.every((one) => label.test(one))) return [];
  const detail = mayHaveDots
    ? 'must be names of letters, digits and hyphens with a dot between two, not a URL'
    : 'must be one name of letters, digits and hyphens, not a host or URL';
  return [{ ...place, detail, value }];
}

/** Of a whole address where its first part is wanted, that part; undefined for what is no such address. */
function partBefore(rest: string, value: string): string | undefined {
  const host = value.replace(/^[a-z]+:\/\//i, '').replace(/[/?#].*$/s, '');
  if (!rest.startsWith('.') || rest.includes('{{') || !host.toLowerCase().endsWith(rest)) return undefined;
  return host.slice(0, -rest.length);
}

/** What is asked for, in the words of the provider's file. */
function needOf(input: string, { displayName = 'this provider', metadata }: Forms): string {
  const prompt = metadata?.input.find(({ name }) => name === input)?.prompt;
  return `is required for ${displayName}${prompt === undefined ? '' : `: ${prompt.replace(/\.$/, '')}`}`;
}

/** The refusal of a request that does not say which account of the provider is meant. */
export function workspaceNeeded(provider: Provider): Problem {
  return refuse([{ in: 'body', name: 'providerWorkspaceRef', detail: needOf('workspace', provider) }]);
}

/** A name with a domain: no address in any notation, whose last part would be a number. */
function isHostName(labels: string[]): boolean {
  const last = labels.at(-1) ?? '';
  return labels.length > 1 && labels.every((part) => label.test(part)) && /^[a-z]/i.test(last);
}

/** Any URL or parameter of a provider (authURL, tokenParams, …) with the connection's values in it. Throws invalid-request. */
export function providerUrl(provider: Provider, url: string, place: ConnectionPlace): string {
  return resolveTemplate(url, valuesOf(provider, place), provider);
}

/** The values of a connection by the names of its provider's variables, with their defaults. */
export function valuesOf(
  provider: Provider,
  { workspaceRef, metadata = {} }: ConnectionPlace,
): Record<string, string> {
  const defaults = (provider.metadata?.input ?? []).flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [[name, defaultValue] as const],
  );
  return {
    ...Object.fromEntries(defaults),
    ...metadata,
    ...(workspaceRef ? { workspace: workspaceRef } : {}),
  };
}

/**
 * The API base of a connection, without a slash at its end: the instance URL of the token response where the provider
 * names one, else the catalogue's base URL. Throws invalid-request, or credentials-rejected for a foreign instance URL.
 */
export function baseUrlOf(provider: Provider, place: ConnectionPlace): string {
  if (!provider.instanceUrl || !place.instanceUrl)
    return withoutSlash(providerUrl(provider, provider.baseURL, place));
  return instanceOrigin(provider, place.instanceUrl) + pathOf(provider.baseURL);
}

/** The health check's URL; on the connection's own instance where there is one. Undefined: the provider has none. */
export function healthCheckUrlOf(provider: Provider, place: ConnectionPlace): string | undefined {
  const check = provider.authHealthCheck;
  if (!check) return undefined;
  if (!provider.instanceUrl || !place.instanceUrl) return providerUrl(provider, check.url, place);
  return instanceOrigin(provider, place.instanceUrl) + pathOf(check.url);
}

/** The origin of an instance URL, if it is one of the catalogue's hosts or the operator's origin for this provider. */
function instanceOrigin(provider: Provider, text: string): string {
  const scheme = new URL(provider.origin ?? 'https://host').protocol;
  const url = URL.parse(provider.instanceUrl?.isHostOnly ? `${scheme}//${text}` : text);
  const patterns = provider.instanceUrl?.hostPatterns ?? [];
  if (url && !url.username && !url.password) {
    if (provider.origin !== undefined && url.origin === provider.origin) return url.origin;
    const isKnown = patterns.some((pattern) => hostMatches(pattern, url.hostname));
    if (url.protocol === 'https:' && url.port === '' && isKnown) return url.origin;
  }
  throw problem('credentials-rejected', {
    detail: `The API address that came with the credentials is not one of ${provider.displayName} (${patterns.join(', ')}).`,
    remedy: 'Connect again, and do not change the address that the provider returned.',
  });
}

/** Where the browser signs in and the code is exchanged. */
export function signInUrlsOf(
  { oauth2Opts: oauth }: Provider,
  { workspaceRef }: ConnectionPlace,
): { authURL?: string | undefined; tokenURL?: string } {
  const { authURL, tokenURL, withoutWorkspace } = oauth ?? {};
  if (!workspaceRef && withoutWorkspace) return withoutWorkspace;
  return { authURL, ...(tokenURL === undefined ? {} : { tokenURL }) };
}

/** The account that an API base of the token response belongs to; undefined where its host does not say it. */
export function workspaceOfInstance(
  provider: Provider,
  { instanceUrl }: ConnectionPlace,
): string | undefined {
  const host = URL.parse(instanceUrl ?? '')?.hostname ?? '';
  const pattern = provider.instanceUrl?.hostPatterns.find(
    (one) => one.startsWith('*.') && hostMatches(one, host),
  );
  return pattern && host.slice(0, 1 - pattern.length);
}

function hostMatches(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern;
  const suffix = pattern.slice(1);
  return (
    host.endsWith(suffix) &&
    host
      .slice(0, -suffix.length)
      .split('.')
      .every((part) => label.test(part))
  );
}

/** The part of a template after its host. */
function pathOf(template: string): string {
  return withoutSlash(template.replace(/^(?:https?:\/\/)?[^/?#]+/, ''));
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
