import type { ConnectionRequest, ProviderInfo } from '@svc/client';

/** One thing that a person types to connect. */
export interface CredentialField {
  /** As svc calls it in a request, such as `basicAuth.username`. */
  path: string;
  /** A key of the catalogue of texts, or the provider's own words. */
  label: CredentialLabel | { said: string };
  hint: string | undefined;
  docsUrl: string | undefined;
  kind: 'text' | 'secret' | 'select';
  options: readonly string[];
  isRequired: boolean;
  initial: string;
}
export type CredentialLabel =
  | 'apiKey'
  | 'username'
  | 'password'
  | 'clientId'
  | 'clientSecret'
  | 'workspace'
  | 'scopes';

/** How a provider is connected: by a sign-in in a window, or with what is typed. */
export interface AuthForm {
  kind: 'oauth' | 'credentials';
  fields: CredentialField[];
  docsUrl: string | undefined;
}

const field = (
  path: string,
  label: CredentialField['label'],
  kind: CredentialField['kind'] = 'text',
): CredentialField => ({
  path,
  label,
  hint: undefined,
  docsUrl: undefined,
  kind,
  options: [],
  isRequired: true,
  initial: '',
});

export function authFormOf(provider: ProviderInfo): AuthForm {
  const { authType, oauth2Opts, apiKeyOpts, basicOpts } = provider;
  const about = placeFields(provider);
  if (authType === 'oauth2') {
    const fields = grantFields(oauth2Opts?.grantType);
    const kind = fields.length === 0 ? 'oauth' : 'credentials';
    return { kind, fields: [...about, ...fields], docsUrl: oauth2Opts?.docsURL ?? provider.docsURL };
  }
  const docsUrl = apiKeyOpts?.docsURL ?? basicOpts?.docsURL ?? provider.docsURL;
  return { kind: 'credentials', fields: [...about, ...ownFields(provider)], docsUrl };
}

function ownFields({ authType, basicOpts, customOpts }: ProviderInfo): CredentialField[] {
  if (authType === 'apiKey' || (authType === 'basic' && basicOpts?.apiKeyAsBasic))
    return [field('apiKey', 'apiKey', 'secret')];
  if (authType === 'basic')
    return [field('basicAuth.username', 'username'), field('basicAuth.password', 'password', 'secret')];
  return (customOpts?.inputs ?? []).map((input) => ({
    path: `customAuth.${input.name}`,
    label: { said: input.displayName ?? input.name },
    hint: input.prompt,
    docsUrl: input.docsURL,
    kind:
      input.fieldType === 'fieldTypeText'
        ? 'text'
        : input.fieldType === 'fieldTypeSelect'
          ? 'select'
          : 'secret',
    options: input.options ?? [],
    isRequired: true,
    initial: '',
  }));
}

function grantFields(grant: string | undefined): CredentialField[] {
  const client = (block: string) => [
    field(`${block}.clientId`, 'clientId'),
    field(`${block}.clientSecret`, 'clientSecret', 'secret'),
  ];
  if (grant === 'clientCredentials') {
    const block = 'oauth2ClientCredentials';
    return [...client(block), { ...field(`${block}.scopes`, 'scopes'), isRequired: false }];
  }
  if (grant !== 'password') return [];
  const block = 'oauth2PasswordCredentials';
  return [
    field(`${block}.username`, 'username'),
    field(`${block}.password`, 'password', 'secret'),
    ...client(block),
  ];
}

/** Which account: its name at the provider, and what else the addresses of the provider need. */
function placeFields({ oauth2Opts, metadata }: ProviderInfo): CredentialField[] {
  const inputs = (metadata?.input ?? []).map((input): CredentialField => ({
    path: `providerMetadata.${input.name}`,
    label: { said: input.displayName ?? input.name },
    kind: 'text',
    options: [],
    hint: input.prompt,
    docsUrl: input.docsURL,
    // Where the provider itself asks which account, whoever does not know leaves it.
    isRequired:
      input.defaultValue === undefined &&
      !(input.name === 'workspace' && oauth2Opts?.explicitWorkspaceRequired === false),
    initial: input.defaultValue ?? '',
  }));
  const isAsked =
    oauth2Opts?.explicitWorkspaceRequired && !inputs.some(({ path }) => path.endsWith('.workspace'));
  return [
    ...(isAsked ? [{ ...field('providerWorkspaceRef', 'workspace'), isRequired: false }] : []),
    ...inputs,
  ];
}

export type Typed = Readonly<Record<string, string>>;

export type ConnectPlan =
  | { kind: 'oauth'; place: Pick<ConnectionRequest, 'providerWorkspaceRef' | 'providerMetadata'> }
  | { kind: 'generate'; request: ConnectionRequest; masks: string[] }
  | { kind: 'refusal'; missing: string[] };

/** The request that connects with what was typed; white space around it is left out. */
export function planConnect(form: AuthForm, typed: Typed): ConnectPlan {
  const values = form.fields.map((one) => ({ ...one, value: (typed[one.path] ?? one.initial).trim() }));
  const missing = values
    .filter(({ isRequired, value }) => isRequired && value === '')
    .map(({ path }) => path);
  if (missing.length > 0) return { kind: 'refusal', missing };
  const request: Record<string, unknown> = {};
  for (const { path, value } of values) if (value !== '') put(request, path, value);
  if (form.kind === 'oauth') return { kind: 'oauth', place: request };
  return { kind: 'generate', request, masks: Object.keys(request) };
}

function put(request: Record<string, unknown>, path: string, value: string): void {
  const at = path.indexOf('.');
  if (at < 0) {
    request[path] = value;
    return;
  }
  const [block, name] = [path.slice(0, at), path.slice(at + 1)];
  const inner: unknown =
    block === 'providerMetadata'
      ? { value, source: 'input' }
      : name === 'scopes'
        ? value.split(/[\s,]+/)
        : value;
  request[block] = { ...(request[block] as object | undefined), [name]: inner };
}
