import { problem } from '../../kit/problem.ts';
import { notAllowed, providerUrl, type ConnectionPlace, type Provider } from '../../providers/index.ts';
import { captured } from '../credentials/index.ts';
import type { ProviderMetadata } from '../schema.ts';

/** What the provider sent the browser back with (RFC 6749, 4.1.2). */
export interface CallbackQuery {
  state?: string | undefined;
  code?: string | undefined;
  error?: string | undefined;
  error_description?: string | undefined;
  /** What providers add; a parameter that is repeated is a list. */
  [param: string]: unknown;
}

/** What a provider told in the query of its redirect, besides the code. */
export interface Redirected {
  workspaceRef?: string | undefined;
  metadata: ProviderMetadata;
  /** What the exchange of the code has to repeat. */
  tokenParams: Record<string, string>;
}

/**
 * Throws credentials-rejected when the answer is of another server than the one that was asked (RFC 9207, 2.4), before
 * anything of it is believed.
 */
export function assertIssuer(provider: Provider, place: ConnectionPlace, iss: unknown): void {
  const { issuer, issParameterSupported = false } = provider.oauth2Opts ?? {};
  if (issuer === undefined || (iss === undefined && !issParameterSupported)) return;
  if (iss === providerUrl(provider, issuer, place)) return;
  throw problem('credentials-rejected', {
    detail: `The answer is not of the server of ${provider.displayName} that was asked.`,
  });
}

/**
 * Reads the parameters that the provider's file names (QuickBooks' realmId, Zoho's accounts-server). Throws
 * credentials-rejected for a value that the file does not allow: it may say where the client's secret goes.
 */
export function readRedirect(file: Provider, query: CallbackQuery): Redirected {
  const { displayName: provider, oauth2Opts } = file;
  const textOf = (param: string): string | undefined => {
    const value = query[param];
    return typeof value === 'string' && value !== '' ? value.slice(0, 2_000) : undefined;
  };
  const told: Redirected = { metadata: {}, tokenParams: {} };
  for (const { param, name, displayName, capture, isWorkspace } of oauth2Opts?.callbackFields ?? []) {
    const value = captured(textOf(param), capture);
    if (!value) continue;
    if (notAllowed(file, name, value) !== undefined)
      throw problem('credentials-rejected', {
        detail: `The redirect named an address that is not one of ${provider}.`,
      });
    told.metadata[name] = { value, source: 'provider', ...(displayName ? { displayName } : {}) };
    if (isWorkspace) told.workspaceRef = value;
  }
  for (const param of oauth2Opts?.tokenParamsFromCallback ?? []) {
    const value = textOf(param);
    if (value) told.tokenParams[param] = value;
  }
  return told;
}
