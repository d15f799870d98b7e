import type { Provider } from './provider.ts';
import { foundNamesOf } from './contradictions.ts';
import { abilitiesOf, type Abilities } from './connectors.ts';
import { Oauth2Info, type ProviderInfo, type Support } from './schema.ts';

/** A provider as GET /v1/providers shows it, without what only the connector needs. */
export function providerInfo(provider: Provider): ProviderInfo {
  const support = supportOf(provider.name);
  // A connector speaks to the API of the default module; the others are reached through the proxy.
  const supportOfModule = (id: string) =>
    id === provider.defaultModule ? support : supportFrom(abilitiesOf(undefined));
  const { name, displayName, authType, baseURL, labels, docsURL, apiKeyOpts, basicOpts, customOpts } =
    provider;
  const { authHealthCheck, metadata, modules, oauth2Opts } = provider;
  return {
    name,
    displayName,
    authType,
    baseURL,
    defaultModule: provider.defaultModule ?? '',
    support,
    ...(labels ? { labels } : {}),
    ...(docsURL ? { docsURL } : {}),
    ...(apiKeyOpts ? { apiKeyOpts } : {}),
    ...(basicOpts ? { basicOpts } : {}),
    ...(customOpts ? { customOpts: publicCustom(customOpts) } : {}),
    ...(authHealthCheck ? { authHealthCheck: publicHealthCheck(authHealthCheck) } : {}),
    ...metadataInfo(metadata, foundNamesOf(provider)),
    ...(provider.postAuth ? { postAuthInfoNeeded: true } : {}),
    // The inputs of an assertion that is signed here are shown as `customOpts`.
    ...(oauth2Opts && authType !== 'jwt' ? { oauth2Opts: publicOauth2(oauth2Opts) } : {}),
    ...(modules
      ? {
          modules: Object.fromEntries(
            Object.entries(modules).map(([id, module]) => [id, { ...module, support: supportOfModule(id) }]),
          ),
        }
      : {}),
  };
}

function publicHealthCheck({
  url,
  method,
  successStatusCodes,
}: NonNullable<Provider['authHealthCheck']>): ProviderInfo['authHealthCheck'] {
  return { url, ...(method ? { method } : {}), ...(successStatusCodes ? { successStatusCodes } : {}) };
}

function metadataInfo(metadata: Provider['metadata'], found: string[]): Pick<ProviderInfo, 'metadata'> {
  if (!metadata && found.length === 0) return {};
  const postAuthentication = found.map((name) => ({ name }));
  return {
    metadata: { input: metadata?.input ?? [], ...(found.length > 0 ? { postAuthentication } : {}) },
  };
}

/** Clients treat an input without a type as a secret. */
function publicCustom({
  inputs,
  ...others
}: NonNullable<Provider['customOpts']>): ProviderInfo['customOpts'] {
  return { ...others, inputs: inputs.map((input) => ({ fieldType: 'fieldTypeText', ...input })) };
}

function publicOauth2(opts: NonNullable<Provider['oauth2Opts']>): Oauth2Info {
  const shown = Object.fromEntries(
    Object.entries(opts).filter(([name]) => name in Oauth2Info.properties),
  ) as Oauth2Info;
  // Where signing in starts without an account, nobody has to name one.
  return { ...shown, explicitWorkspaceRequired: opts.explicitWorkspaceRequired && !opts.withoutWorkspace };
}

/** What a provider supports, computed from its connector; every provider can be proxied. */
export function supportOf(name: string): Support {
  return supportFrom(abilitiesOf(name));
}

function supportFrom(abilities: Abilities): Support {
  const batch = abilities.batchWrite
    ? { supported: true, defaultRecordLimit: abilities.batchLimit }
    : { supported: false };
  const none = { supported: false };
  return {
    proxy: true,
    read: abilities.read,
    write: abilities.write.length > 0,
    subscribe: false,
    delete: abilities.delete,
    bulkWrite: { insert: false, update: false, upsert: false, delete: false },
    search: { operators: { equals: abilities.read } },
    batchWrite: {
      create: batch,
      update: batch,
      delete: none,
      upsert: abilities.write.includes('upsert') ? batch : none,
    },
  };
}
