import {
  baseUrlOf,
  healthCheckUrlOf,
  providerUrl,
  valuesOf,
  type ConnectionPlace,
  type Provider,
} from '../../providers/index.ts';
import { placeOf } from '../credentials/index.ts';
import { isComplete } from './account.ts';
import type { Claim } from './prove.ts';

/** The names of a provider's variables whose values come with its answers. */
type Learned = ReadonlySet<string>;

/**
 * Finds what the trial of credentials would find of the addresses that it needs, before anything is sent. Throws invalid-request
 * for a value that is missing or does not fit, and that no answer of the provider brings; credentials-rejected for a foreign API address.
 */
export function assertAddresses(provider: Provider, asked: Claim['asked']): void {
  const { postAuth } = provider;
  const place = placeOf(provider, asked.workspaceRef, asked.metadata);
  const byToken = learnedByToken(provider);
  if (postAuth && isAskedAnyway(postAuth, asked, byToken)) {
    assertFits(provider, postAuth.url, place, byToken);
    assertFits(provider, postAuth.select?.is, place, byToken);
  }
  if (place.instanceUrl) {
    baseUrlOf(provider, place);
    healthCheckUrlOf(provider, place);
    return;
  }
  // The token response names the API base.
  if (provider.instanceUrl) return;
  const byAny = new Set([...byToken, ...learnedBy(postAuth)]);
  assertFits(provider, provider.baseURL, place, byAny);
  assertFits(provider, provider.authHealthCheck?.url, place, byAny);
}

interface Source {
  workspaceRefField?: string | undefined;
  otherFields?: { name: string }[] | undefined;
}

function learnedBy({ workspaceRefField, otherFields = [] }: Source = {}): string[] {
  return [...(workspaceRefField ? ['workspace'] : []), ...otherFields.map(({ name }) => name)];
}

function learnedByToken({ oauth2Opts }: Provider): Learned {
  return new Set(learnedBy(oauth2Opts?.tokenMetadataFields));
}

/** Whether it will be asked whose account it is, whatever the token response says. */
function isAskedAnyway(
  postAuth: NonNullable<Provider['postAuth']>,
  { workspaceRef, metadata }: Claim['asked'],
  byToken: Learned,
): boolean {
  const told = Object.fromEntries(
    [...byToken].map((name) => [name, { value: '', source: 'token' as const }]),
  );
  const known = {
    workspaceRef: workspaceRef ?? told['workspace']?.value,
    metadata: { ...told, ...metadata },
  };
  return !isComplete(postAuth, known);
}

/** What the provider will say is taken for good, unless the request says it. */
function assertFits(
  provider: Provider,
  template: string | undefined,
  place: ConnectionPlace,
  learned: Learned,
): void {
  const values = valuesOf(provider, place);
  const text = template?.replace(/\{\{(\w+)\}\}/g, (variable, name: string) =>
    learned.has(name) && !values[name] ? 'a' : variable,
  );
  if (text !== undefined) providerUrl(provider, text, place);
}
