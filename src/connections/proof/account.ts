import type { Ground } from '../../kit/ground.ts';
import { headerOf, sendHttp } from '../../kit/http/client.ts';
import {
  credentialHeaders,
  providerUrl,
  valuesOf,
  withoutSecrets,
  type ConnectionPlace,
  type Provider,
} from '../../providers/index.ts';
import {
  clearOf,
  isObject,
  jsonFrom,
  keptFrom,
  textAt,
  valueAt,
  type Secrets,
} from '../credentials/index.ts';
import type { ProviderMetadata } from '../schema.ts';
import type { Doubt } from './health.ts';

/** Whose account was connected, as far as the provider said. */
export interface Account {
  workspaceRef?: string | undefined;
  consumerRef?: string | undefined;
  metadata: ProviderMetadata;
}

type PostAuth = NonNullable<Provider['postAuth']>;

const maxAnswerBytes = 1024 * 1024;

/**
 * Asks the provider whose account the credentials open, by its `postAuth`, when `known` leaves something of that open.
 * Never throws for an answer; a doubt when it refused, did not say, or could not be reached.
 */
export async function askAccount(
  ground: Ground,
  provider: Provider,
  place: ConnectionPlace,
  secrets: Secrets,
  known: Account,
): Promise<Account | Doubt> {
  const { postAuth } = provider;
  if (!postAuth || isComplete(postAuth, known)) return known;
  const result = await sendHttp(ground.egress, requestFor(provider, postAuth, place, secrets), {
    timeoutMs: ground.limits.providerCallMs,
    maxAnswerBytes,
  });
  if ('fault' in result) return { kind: 'unsure', message: result.fault.message };
  const { answer } = result;
  if (answer.status >= 300) {
    const kind = answer.status === 429 || answer.status >= 500 ? 'unsure' : 'rejected';
    const message = `the question whose account it is was answered with status ${answer.status}`;
    const type = headerOf(answer, 'content-type');
    const words = type?.includes('json') ? answer.body.slice(0, 300) : message;
    return { kind, message, provider: { status: answer.status, message: withoutSecrets(words) } };
  }
  const body = jsonFrom(answer.body);
  const choice = openChoice(postAuth, place, body);
  if (choice !== undefined) return { kind: 'rejected', message: choice, ofRequest: true };
  const entry = selected(provider, postAuth, place, body);
  const asked = entry === undefined ? undefined : accountIn(postAuth, entry);
  const account = asked && {
    workspaceRef: known.workspaceRef ?? asked.workspaceRef,
    consumerRef: known.consumerRef ?? asked.consumerRef,
    metadata: { ...asked.metadata, ...known.metadata },
  };
  if (account && isComplete(postAuth, account)) return account;
  const message = 'the account that was asked for is not among those that may be used';
  const isListed = postAuth.select !== undefined && listIn(postAuth.select, body) !== undefined;
  return { kind: 'rejected', message, ...(isListed ? { ofRequest: true } : {}) };
}

/** The consumer is good to know, but nothing depends on it. */
export function isComplete(postAuth: PostAuth, { workspaceRef, metadata }: Account): boolean {
  if (postAuth.workspaceRefField && workspaceRef === undefined) return false;
  return (postAuth.otherFields ?? []).every((field) => metadata[field.name] !== undefined);
}

function requestFor(
  provider: Provider,
  postAuth: PostAuth,
  place: ConnectionPlace,
  secrets: Secrets,
): Parameters<typeof sendHttp>[1] {
  const { accessToken: header, body } = postAuth;
  const speaker =
    header && provider.oauth2Opts
      ? {
          ...provider,
          oauth2Opts: {
            ...provider.oauth2Opts,
            accessTokenOpts: { attachmentType: 'header', header } as const,
          },
        }
      : provider;
  const { headers, query } = credentialHeaders(speaker, clearOf(secrets), valuesOf(provider, place));
  const url = new URL(providerUrl(provider, postAuth.url, place));
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return {
    method: body ? 'POST' : 'GET',
    url: url.href,
    headers: {
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...postAuth.headers,
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  };
}

/** The entry of the answer that is meant: of a list the one that fits, never another. */
function selected(provider: Provider, { select }: PostAuth, place: ConnectionPlace, body: unknown): unknown {
  if (!select) return isObject(body) ? body : undefined;
  const entries = entriesOf(select, body);
  const { field, is, choice } = select;
  if (choice && place.workspaceRef)
    return entries.find((entry) => sameText(textAt(entry, choice.field), place.workspaceRef));
  if (field === undefined || is === undefined) return entries[0];
  const wanted = providerUrl(provider, is, place);
  return entries.find((entry) => sameText(textAt(entry, field), wanted));
}

function entriesOf(select: NonNullable<PostAuth['select']>, body: unknown): unknown[] {
  return listIn(select, body) ?? [];
}

/** The accounts that the credentials open; undefined for an answer that is no list, which may be the access token's fault. */
function listIn({ list }: NonNullable<PostAuth['select']>, body: unknown): unknown[] | undefined {
  const found = list === undefined ? body : valueAt(body, list);
  return Array.isArray(found) ? found : undefined;
}

function sameText(a: string | undefined, b: string | null | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase();
}

/** Says between which accounts somebody has to choose; undefined when there is nothing to choose. */
function openChoice({ select }: PostAuth, place: ConnectionPlace, body: unknown): string | undefined {
  if (!select?.choice || place.workspaceRef) return undefined;
  const entries = entriesOf(select, body);
  if (entries.length < 2) return undefined;
  const { field, shownBy } = select.choice;
  const shown = entries.map((entry) => `${textAt(entry, shownBy)} (${textAt(entry, field)})`);
  return `the credentials open several accounts; connect again with providerWorkspaceRef set to that of one: ${shown.join(', ')}`;
}

function accountIn(postAuth: PostAuth, entry: unknown): Account {
  const { workspaceRefField, consumerRefField, otherFields } = postAuth;
  return {
    workspaceRef: workspaceRefField && textAt(entry, workspaceRefField),
    consumerRef: consumerRefField && textAt(entry, consumerRefField),
    metadata: keptFrom(otherFields, entry, 'provider'),
  };
}
