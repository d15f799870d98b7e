import {
  answerOf,
  listOf,
  onlyPage,
  type ProviderAppPage,
  type UpdateProviderAppRequest,
} from '../../ui/client/src/index.ts';
import { secretGiven } from './ask-secret.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { jsonOption } from './json-option.ts';
import { say } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

const all = '/v1/projects/{projectIdOrName}/provider-apps';
const one = `${all}/{providerAppId}` as const;

/** `svc provider-apps list`. */
export async function listProviderApps(options: ListOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const list = listOf(
    async (query) =>
      onlyPage<ProviderAppPage>(
        await answerOf(api.GET(all, { params: { path: { projectIdOrName }, query } })),
      ),
    pageSizeOf(options),
  );
  await sayList(options, list, {
    id: ({ id }) => id,
    provider: ({ provider }) => provider,
    'client id': ({ clientId }) => clientId,
    scopes: ({ scopes }) => scopes,
    default: ({ isDefault }) => (isDefault ? 'yes' : 'no'),
  });
}

interface AppOptions extends ConnectionOptions {
  clientId?: string;
  scope?: string[];
  externalRef?: string;
  metadata?: string;
  default?: boolean;
}

/** `svc provider-apps create`: the secret is asked for, or piped in. */
export async function createProviderApp(
  provider: string,
  options: AppOptions & { clientId: string },
): Promise<void> {
  const given = await givenOf(options);
  const clientSecret = await clientSecretGiven();
  const body = { provider, clientId: options.clientId, ...given, clientSecret };
  const { api, project: projectIdOrName } = await connect(options);
  await sayOne(options, await answerOf(api.POST(all, { params: { path: { projectIdOrName } }, body })));
}

/** `svc provider-apps update`: only what is given changes. */
export async function updateProviderApp(
  providerAppId: string,
  options: AppOptions & { newSecret?: boolean },
): Promise<void> {
  const given = await givenOf(options);
  const providerApp = options.newSecret ? { ...given, clientSecret: await clientSecretGiven() } : given;
  const updateMask = Object.keys(providerApp);
  if (updateMask.length === 0)
    throw new Failure(
      'There is nothing to change.',
      'Give --client-id, --new-secret, --scope, --external-ref, --metadata or --default.',
      exitCodes.usage,
    );
  const body: UpdateProviderAppRequest = { updateMask, providerApp };
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, providerAppId } };
  await sayOne(options, await answerOf(api.PATCH(one, { params, body })));
}

/** `svc provider-apps delete`. */
export async function deleteProviderApp(
  providerAppId: string,
  options: ConnectionOptions & { yes?: boolean },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const effect = `Nobody connects by the provider app ${providerAppId} any more, and accounts that were have to be connected again.`;
  await confirm(effect, options, {
    without: 'leave it as it is',
    nothing: new Failure('Nothing was deleted.', 'To give it another secret: svc provider-apps update.'),
  });
  await answerOf(api.DELETE(one, { params: { path: { projectIdOrName, providerAppId } } }));
  say(options, { id: providerAppId, deleted: true }, `Deleted the provider app ${providerAppId}.`);
}

/** What the options say of an app, but its secret. */
async function givenOf(options: AppOptions): Promise<UpdateProviderAppRequest['providerApp']> {
  const { clientId, scope: scopes, externalRef, metadata } = options;
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(externalRef === undefined ? {} : { externalRef }),
    ...(metadata === undefined ? {} : { metadata: await jsonOption('--metadata', metadata) }),
    ...(options.default ? { isDefault: true } : {}),
  };
}

async function clientSecretGiven(): Promise<string> {
  const secret = (await secretGiven('Client secret: ')).trim();
  if (secret !== '') return secret;
  throw new Failure(
    'There is no client secret.',
    'Enter it when it is asked for, or pipe it in.',
    exitCodes.usage,
  );
}
