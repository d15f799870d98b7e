import { parseJson } from '../../kit/json.ts';
import { storable } from '../../kit/storable.ts';
import type { Provider } from '../../providers/index.ts';
import type { ProviderMetadata } from '../schema.ts';

type Fields = NonNullable<NonNullable<Provider['oauth2Opts']>['tokenMetadataFields']['otherFields']>;

/** A text as JSON; undefined for anything else. */
export function jsonFrom(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a dotted path of own members; a number steps into a list. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    const isList = Array.isArray(value) && /^\d+$/.test(name);
    if (!isList && !(isObject(value) && Object.hasOwn(value, name))) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** A text or number at a dotted path, as it can be stored; ids come as either (HubSpot's hub_id is a number). */
export function textAt(body: unknown, path: string): string | undefined {
  const value = valueAt(body, path);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? storable(value) : undefined;
}

/** The part of a value that a provider's file wants: all of it, or what the group `result` matches. */
export function captured(text: string | undefined, capture: string | undefined): string | undefined {
  if (!text || !capture) return text;
  return new RegExp(capture).exec(text)?.groups?.['result'];
}

/** What is to be kept of an answer; what is not there is left out. */
export function keptFrom(
  fields: Fields | undefined,
  body: unknown,
  source: ProviderMetadata[string]['source'],
): ProviderMetadata {
  const found: ProviderMetadata = {};
  for (const { name, displayName, path, capture } of fields ?? []) {
    const value = captured(textAt(body, path), capture);
    if (value) found[name] = { value, source, ...(displayName ? { displayName } : {}) };
  }
  return found;
}
