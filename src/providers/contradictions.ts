import type { ProviderDeclaration } from './declaration/schema.ts';
import { variablesOf } from './template.ts';

/** Faults of a provider file that its schema cannot see. */
export function contradictionsOf(declaration: ProviderDeclaration, fileName: string): string[] {
  const faults: string[] = [];
  if (declaration.name !== fileName) faults.push(`name must be ${fileName}, as the file is called`);
  faults.push(...faultsOfAuth(declaration), ...faultsOfVariables(declaration));
  if (declaration.defaultModule && !declaration.modules?.[declaration.defaultModule]) {
    faults.push(`defaultModule ${declaration.defaultModule} is not one of modules`);
  }
  if (declaration.modules && !declaration.defaultModule) faults.push('modules need a defaultModule');
  for (const [index, rule] of (declaration.tokenErrors ?? []).entries()) {
    if (!rule.is && !rule.contains) faults.push(`tokenErrors[${index}] needs is or contains`);
  }
  return faults;
}

const needs: Partial<Record<ProviderDeclaration['authType'], string>> = {
  jwt: 'oauth2Opts with the grantType jwtBearer, and customOpts',
};

function faultsOfAuth(declaration: ProviderDeclaration): string[] {
  const { authType, oauth2Opts, apiKeyOpts, basicOpts, customOpts } = declaration;
  const missing: Record<ProviderDeclaration['authType'], boolean> = {
    oauth2: !oauth2Opts,
    apiKey: !apiKeyOpts && !basicOpts?.apiKeyAsBasic,
    basic: !basicOpts,
    custom: !customOpts,
    jwt: oauth2Opts?.grantType !== 'jwtBearer' || !customOpts,
    none: false,
  };
  const faults = missing[authType]
    ? [`authType ${authType} needs ${needs[authType] ?? `${authType}Opts`}`]
    : [];
  if ((oauth2Opts?.grantType === 'jwtBearer') !== (oauth2Opts?.assertionAudience !== undefined))
    faults.push('oauth2Opts.assertionAudience belongs to the grantType jwtBearer');
  if (apiKeyOpts && !apiKeyOpts[apiKeyOpts.attachmentType])
    faults.push(`apiKeyOpts.${apiKeyOpts.attachmentType} is required`);
  if (oauth2Opts?.issParameterSupported && !oauth2Opts.issuer)
    faults.push('oauth2Opts.issParameterSupported needs issuer');
  const { withoutWorkspace } = oauth2Opts ?? {};
  const general = Object.values(withoutWorkspace ?? {});
  if (general.some((url) => variablesOf(url).includes('workspace')))
    faults.push('oauth2Opts.withoutWorkspace must do without {{workspace}}');
  if (withoutWorkspace && !declaration.instanceUrl)
    faults.push('oauth2Opts.withoutWorkspace needs instanceUrl, which tells the account');
  const asksUser = oauth2Opts?.grantType.startsWith('authorizationCode') ?? false;
  if (asksUser && !oauth2Opts?.authURL) faults.push('oauth2Opts.authURL is required for this grantType');
  if (oauth2Opts?.grantType === 'authorizationCodePKCE' && !oauth2Opts.pkce)
    faults.push('oauth2Opts.pkce must be true for this grantType');
  return faults;
}

/** The names of what is learned of an account while it is connected: from the redirect, the token response, a call after it. */
export function foundNamesOf({ oauth2Opts, postAuth }: ProviderDeclaration): string[] {
  const names = [
    ...redirectNamesOf(oauth2Opts),
    ...(oauth2Opts?.tokenMetadataFields.otherFields ?? []).map((field) => field.name),
    ...(postAuth?.otherFields ?? []).map((field) => field.name),
  ];
  return [...new Set(names)];
}

function redirectNamesOf(oauth: ProviderDeclaration['oauth2Opts']): string[] {
  return (oauth?.callbackFields ?? []).map((field) => field.name);
}

/**
 * The names of what may decide where a connection's credentials go: what a customer is asked for, and whatever stands in
 * an address. `workspace` is the account itself.
 */
export function addressInputsOf(declaration: ProviderDeclaration): Set<string> {
  const { instanceUrl, metadata } = declaration;
  return new Set([
    'workspace',
    ...(metadata?.input ?? []).map((input) => input.name),
    ...templatesOf(declaration).flatMap(({ text }) => variablesOf(text)),
    ...(instanceUrl ? [instanceUrl.tokenField] : []),
  ]);
}

type Stage = 'before' | 'redirect' | 'after';

/** Every text that may hold variables, by the time at which it is needed. */
function templatesOf(declaration: ProviderDeclaration): { text: string; stage: Stage }[] {
  const { oauth2Opts: oauth, authHealthCheck, postAuth, modules } = declaration;
  const at = (stage: Stage, texts: (string | undefined)[]): { text: string; stage: Stage }[] =>
    texts.filter((text) => text !== undefined).map((text) => ({ text, stage }));
  return [
    ...at('before', [
      oauth?.withoutWorkspace?.authURL,
      oauth?.authURL,
      oauth?.issuer,
      ...Object.values(oauth?.authURLParams ?? {}),
    ]),
    ...at('redirect', [
      oauth?.withoutWorkspace?.tokenURL,
      oauth?.tokenURL,
      oauth?.refreshURL,
      oauth?.revokeURL,
      oauth?.introspectURL,
      oauth?.assertionAudience,
      postAuth?.url,
      ...Object.values({ ...oauth?.tokenParams, ...oauth?.refreshParams }),
      postAuth?.select?.is,
    ]),
    ...at('after', [
      declaration.baseURL,
      authHealthCheck?.url,
      ...Object.values(modules ?? {}).map((module) => module.baseURL),
    ]),
  ];
}

function faultsOfVariables(declaration: ProviderDeclaration): string[] {
  const { oauth2Opts, customOpts, instanceUrl } = declaration;
  const inputs = (declaration.metadata?.input ?? []).map((input) => input.name);
  const atRedirect = [...inputs, ...redirectNamesOf(oauth2Opts)];
  const known: Record<Stage, string[]> = {
    before: inputs,
    redirect: atRedirect,
    after: [...atRedirect, ...foundNamesOf(declaration), ...(instanceUrl ? [instanceUrl.tokenField] : [])],
  };
  const unknown = templatesOf(declaration).flatMap(({ text, stage }) =>
    variablesOf(text).filter((name) => !known[stage].includes(name)),
  );
  const ofCustom = [...(customOpts?.headers ?? []), ...(customOpts?.queryParams ?? [])];
  const customNames = new Set([...inputs, ...(customOpts?.inputs ?? []).map((input) => input.name)]);
  unknown.push(
    ...ofCustom.flatMap((one) => variablesOf(one.valueTemplate)).filter((name) => !customNames.has(name)),
  );
  const faults = [...new Set(unknown)].map(
    (name) => `{{${name}}} is not an input of metadata or customOpts, nor known by the time it is needed`,
  );
  return [...faults, ...faultsOfForms(declaration, inputs, known.after)];
}

/** Values with dots are safe only where they cannot choose a host that gets the builder's secrets. */
function faultsOfForms(declaration: ProviderDeclaration, inputs: string[], known: string[]): string[] {
  const { dottedInputs = [], hostInputs = [], allowedValues = {}, oauth2Opts } = declaration;
  const urls = templatesOf(declaration).map(({ text }) => text);
  const outside = (name: string, form: RegExp): boolean =>
    !inputs.includes(name) || urls.some((url) => url.includes(`{{${name}}}`) && !form.test(url));
  const domains = Object.entries(allowedValues)
    .filter(([, values]) => values.every((value) => value.includes('.')))
    .map(([name]) => `\\{\\{${name}\\}\\}(?:/|$)`);
  const fixed = ['[a-z0-9-]+\\.[a-z]', ...domains].join('|');
  const faults = dottedInputs
    .filter((name) => outside(name, new RegExp(`^https://\\{\\{${name}\\}\\}\\.(?:${fixed})`)))
    .map((name) => `dottedInputs: {{${name}}} must be an input that stands before a fixed host`);
  for (const name of hostInputs) {
    if (outside(name, new RegExp(`^https://\\{\\{${name}\\}\\}(?:/|$)`)))
      faults.push(`hostInputs: {{${name}}} must be an input that is the whole host of its URLs`);
    if (oauth2Opts?.grantType.startsWith('authorizationCode'))
      faults.push(`hostInputs: {{${name}}} would let a customer choose who receives the client secret`);
  }
  const strangers = Object.keys(allowedValues).filter((name) => !known.includes(name));
  return [...faults, ...strangers.map((name) => `allowedValues: ${name} is not a variable of this provider`)];
}
