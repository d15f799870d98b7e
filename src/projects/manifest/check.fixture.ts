import type { ManifestCatalog, ProviderFacts } from './rules/context.ts';
import { checkManifest } from './validate.ts';

const both = {
  modules: ['crm', 'marketing'],
  defaultModule: 'crm',
  reads: true,
  writes: true,
  readsAssociations: false,
};
const providers = new Map<string, ProviderFacts>([
  ['hubspot', { ...both, readsAssociations: true }],
  ['salesforce', both],
  ['salesloft', { ...both, modules: [] }],
  ['google', { ...both, modules: ['calendar', 'gmail'] }],
  ['snowflake', { modules: [], reads: true, writes: false, readsAssociations: false }],
  ['notion', { modules: [], reads: false, writes: false, readsAssociations: false }],
]);
export const catalog: ManifestCatalog = {
  find: (name) => providers.get(name),
  names: () => [...providers.keys()],
};

export const check = (text: string) => checkManifest(text, catalog);
export const found = (text: string): string[] => {
  const { errors, warnings } = check(text);
  return [...errors, ...warnings].map(({ rule, path, line, column }) => `${rule} ${path} ${line}:${column}`);
};

/** A manifest with the given lines under one HubSpot integration, which begins in line 3; so the lines begin in line 5. */
export const withLines = (lines: string, provider = 'hubspot'): string =>
  `specVersion: 1.0.0\nintegrations:\n  - name: mine\n    provider: ${provider}\n${lines}`;
/** The given lines under one read object, from line 9 on. */
export const withRead = (lines: string, provider = 'hubspot'): string =>
  withLines(
    `    read:\n      objects:\n        - objectName: contacts\n          destination: hook\n${lines}`,
    provider,
  );
/** The given lines under one subscribed object, which begins in line 11; so the lines begin in line 13. */
export const withSubscribe = (lines: string, provider = 'hubspot'): string =>
  withRead(
    `    subscribe:\n      objects:\n        - objectName: contacts\n          destination: hook\n${lines}`,
    provider,
  );
export const at = 'integrations[0]';
export const objectAt = `${at}.read.objects[0]`;
