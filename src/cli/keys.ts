import { answerOf, listOf, onlyPage, type ApiKey, type ApiKeyPage } from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, credentialsOf, type ConnectionOptions } from './connection.ts';
import { Failure } from './failure.ts';
import { say, tell } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

const all = '/v1/projects/{projectIdOrName}/api-keys';
const one = `${all}/{apiKeyId}` as const;

/** `svc keys list`. */
export async function listKeys(options: ListOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const list = listOf(
    async (query) =>
      onlyPage<ApiKeyPage>(await answerOf(api.GET(all, { params: { path: { projectIdOrName }, query } }))),
    pageSizeOf(options),
  );
  await sayList(options, list, {
    id: ({ id }) => id,
    label: ({ label }) => label,
    scopes: ({ scopes }) => scopes,
    group: ({ groupRef }) => groupRef,
    active: ({ active }) => (active ? 'yes' : 'no'),
    expires: ({ expiresAt }) => expiresAt,
    'last used': ({ lastUsedAt }) => lastUsedAt,
  });
}

interface CreateOptions extends ConnectionOptions {
  label: string;
  scope?: ApiKey['scopes'];
  group?: string;
  expires?: string;
}

/** `svc keys create`: says the key alone, since it is shown only now. */
export async function createKey(options: CreateOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const { label, scope, group, expires } = options;
  const body = {
    label,
    ...(scope ? { scopes: scope } : {}),
    ...(group === undefined ? {} : { groupRef: group }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
  const made = await answerOf(api.POST(all, { params: { path: { projectIdOrName } }, body }));
  say(options, made, made.key ?? '');
  if (!options.json) tell(`Key ${made.id}, for ${made.scopes.join(', ')}. It is shown only now.`);
}

/** `svc keys disable`: asks where it is the key of the call itself, which could not let itself in again. */
export async function disableKey(
  apiKeyId: string,
  { yes, ...options }: ConnectionOptions & { yes?: boolean },
): Promise<void> {
  const { apiKey } = await credentialsOf(options);
  if (isOwn(apiKeyId, apiKey))
    await confirm(
      'This is the key of this command: with it nothing can be done any more, nor can it be let in again.',
      yes ? { yes } : {},
      {
        without: 'disable it with another key',
        nothing: new Failure('Nothing was disabled.', 'To make another key first: svc keys create.'),
      },
    );
  await setKeyActive(apiKeyId, false, options);
}

/** One that an operator made up has no id in its text; svc derives one that begins so. */
export function idBegins(apiKey: string): string {
  return /^svc_([0-9a-z]+)_/.exec(apiKey)?.[1] ?? 'given';
}

function isOwn(apiKeyId: string, apiKey: string): boolean {
  return apiKeyId.startsWith(idBegins(apiKey));
}

/** `svc keys enable`, and what `disable` does. */
export async function setKeyActive(
  apiKeyId: string,
  active: boolean,
  { expires, ...options }: ConnectionOptions & { expires?: string },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, apiKeyId } };
  const body =
    expires === undefined
      ? { updateMask: ['active'], apiKey: { active } }
      : { updateMask: ['active', 'expiresAt'], apiKey: { active, expiresAt: expires } };
  await sayOne(options, await answerOf(api.PATCH(one, { params, body })));
}

/** `svc keys delete`. */
export async function deleteKey(
  apiKeyId: string,
  options: ConnectionOptions & { yes?: boolean },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, apiKeyId } };
  const { label } = await answerOf(api.GET(one, { params }));
  await confirm(`Who has the key "${label}" gets in no more.`, options, {
    without: 'disable it instead',
    nothing: new Failure('Nothing was deleted.', 'To stop it for a time: svc keys disable.'),
  });
  await answerOf(api.DELETE(one, { params }));
  say(options, { id: apiKeyId, deleted: true }, `Deleted the key "${label}".`);
}
