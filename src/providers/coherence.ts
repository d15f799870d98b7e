import type { ProviderDeclaration } from './schema.ts';
import { variablesOf } from './template.ts';

/** What a provider file says that its schema cannot see to be wrong. */
export function contradictionsOf(declaration: ProviderDeclaration, fileName: string): string[] {
  const faults: string[] = [];
  if (declaration.name !== fileName) faults.push(`name must be ${fileName}, as the file is called`);
  faults.push(...faultsOfAuth(declaration), ...faultsOfVariables(declaration));
  if (declaration.defaultModule && !declaration.modules?.[declaration.defaultModule]) {
    faults.push(`defaultModule ${declaration.defaultModule} is not one of modules`);
  }
  for (const [index, rule] of (declaration.tokenErrors ?? []).entries()) {
    if (!rule.is && !rule.contains) faults.push(`tokenErrors[${index}] needs is or contains`);
  }
  return faults;
}

function faultsOfAuth(declaration: ProviderDeclaration): string[] {
  const { authType, oauth2Opts, apiKeyOpts, basicOpts, customOpts } = declaration;
  const missing: Record<ProviderDeclaration['authType'], boolean> = {
    oauth2: !oauth2Opts,
    apiKey: !apiKeyOpts && !basicOpts?.apiKeyAsBasic,
    basic: !basicOpts,
    custom: !customOpts,
    jwt: false,
    none: false,
  };
  const faults = missing[authType] ? [`authType ${authType} needs ${authType}Opts`] : [];
  if (apiKeyOpts && !apiKeyOpts[apiKeyOpts.attachmentType])
    faults.push(`apiKeyOpts.${apiKeyOpts.attachmentType} is required`);
  const asksUser = oauth2Opts?.grantType.startsWith('authorizationCode') ?? false;
  if (asksUser && !oauth2Opts?.authURL) faults.push('oauth2Opts.authURL is required for this grantType');
  if (oauth2Opts?.grantType === 'authorizationCodePKCE' && !oauth2Opts.pkce)
    faults.push('oauth2Opts.pkce must be true for this grantType');
  return faults;
}

function faultsOfVariables(declaration: ProviderDeclaration): string[] {
  const { oauth2Opts, customOpts, dottedInputs = [] } = declaration;
  const inputs = (declaration.metadata?.input ?? []).map((input) => input.name);
  const urls = [
    declaration.baseURL,
    oauth2Opts?.authURL,
    oauth2Opts?.tokenURL,
    oauth2Opts?.revokeURL,
    oauth2Opts?.introspectURL,
    declaration.authHealthCheck?.url,
    ...Object.values(declaration.modules ?? {}).map((module) => module.baseURL),
  ].filter((url) => url !== undefined);
  const unknown = urls.flatMap(variablesOf).filter((name) => !inputs.includes(name));
  const ofCustom = [...(customOpts?.headers ?? []), ...(customOpts?.queryParams ?? [])];
  const customNames = new Set([...inputs, ...(customOpts?.inputs ?? []).map((input) => input.name)]);
  unknown.push(
    ...ofCustom.flatMap((one) => variablesOf(one.valueTemplate)).filter((name) => !customNames.has(name)),
  );
  const faults = [...new Set(unknown)].map((name) => `{{${name}}} is not an input of metadata or customOpts`);
  // Several labels are safe only in front of a fixed host.
  for (const name of dottedInputs) {
    const open = urls.some(
      (url) =>
        url.includes(`{{${name}}}`) &&
        !new RegExp(`^https://\\{\\{${name}\\}\\}\\.[a-z0-9-]+\\.[a-z]`).test(url),
    );
    if (open || !inputs.includes(name))
      faults.push(`dottedInputs: {{${name}}} must be an input that stands before a fixed host`);
  }
  return faults;
}
