import { storable } from '../../kit/storable.ts';
import type { Provider } from '../../providers/index.ts';
import { isObject, jsonFrom, keptFrom, textAt, valueAt } from '../credentials/index.ts';
import type { ProviderMetadata } from '../schema.ts';

/** What a token response says, in one form for every provider. */
export interface TokenAnswer {
  accessToken: string;
  refreshToken?: string;
  /** From the moment the request was sent. Missing: a 401 is the only sign of expiry (Salesforce). */
  expiresInMs?: number;
  scopes?: string[];
  workspaceRef?: string;
  consumerRef?: string;
  metadata: ProviderMetadata;
}

/** What an access token is made of (RFC 6749, A.12); whatever else would be put into a header fails there. */
const tokenText = /^[\x20-\x7e]+$/;

/** Reads a token response by the provider's declaration; undefined when it holds no access token that can be used. */
export function readTokenAnswer(provider: Provider, text: string): TokenAnswer | undefined {
  const body = jsonFrom(text);
  const accessToken = textAt(body, 'access_token');
  if (!isObject(body) || !accessToken || !tokenText.test(accessToken)) return undefined;
  const fields = provider.oauth2Opts?.tokenMetadataFields ?? {};
  const refreshToken = textAt(body, 'refresh_token');
  const expiresInMs = lifetimeOf(provider, body['expires_in']);
  const scopes = scopesAt(body, fields.scopesField ?? 'scope');
  const workspaceRef = fields.workspaceRefField && textAt(body, fields.workspaceRefField);
  const consumerRef = fields.consumerRefField && textAt(body, fields.consumerRefField);
  return {
    accessToken,
    ...(refreshToken ? { refreshToken } : {}),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(scopes ? { scopes } : {}),
    ...(workspaceRef ? { workspaceRef } : {}),
    ...(consumerRef ? { consumerRef } : {}),
    metadata: metadataOf(provider, body),
  };
}

/** No token is believed to live longer. A moment that is sent for a duration is beyond it, and so is what no timestamp can hold. */
const mostSeconds = 10 * 365 * 86_400;

/** Some providers send `expires_in` as a text, some not at all. */
function lifetimeOf(provider: Provider, expiresIn: unknown): number | undefined {
  const seconds = typeof expiresIn === 'string' ? Number(expiresIn) : expiresIn;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= mostSeconds) return seconds * 1000;
  const assumed = provider.oauth2Opts?.accessTokenLifetimeSeconds;
  return assumed === undefined ? undefined : assumed * 1000;
}

function scopesAt(body: Record<string, unknown>, path: string): string[] | undefined {
  const list = valueAt(body, path);
  if (Array.isArray(list)) return list.filter((scope) => typeof scope === 'string').map(storable);
  return typeof list === 'string'
    ? storable(list)
        .split(/[\s,]+/)
        .filter(Boolean)
    : undefined;
}

function metadataOf(provider: Provider, body: Record<string, unknown>): ProviderMetadata {
  const instanceField = provider.instanceUrl?.tokenField;
  const instanceUrl = instanceField && textAt(body, instanceField);
  return {
    ...(instanceField && instanceUrl ? { [instanceField]: { value: instanceUrl, source: 'token' } } : {}),
    ...keptFrom(provider.oauth2Opts?.tokenMetadataFields.otherFields, body, 'token'),
  };
}
