import { answerOf } from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { Failure } from './failure.ts';
import { say } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

const one = '/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}';

/** `svc integrations list`. */
export async function listIntegrations(options: ListOptions): Promise<void> {
  await sayList(options, (await connect(options)).integrations.list(pageSizeOf(options)), {
    name: ({ name }) => name,
    provider: ({ provider }) => provider,
    id: ({ id }) => id,
    deployed: ({ latestRevision }) => latestRevision.createTime,
  });
}

/** `svc integrations get`: with what its newest revision declares. */
export async function getIntegration(integrationIdOrName: string, options: ConnectionOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  await sayOne(
    options,
    await answerOf(api.GET(one, { params: { path: { projectIdOrName, integrationIdOrName } } })),
  );
}

/** `svc integrations delete`. */
export async function deleteIntegration(
  integrationIdOrName: string,
  options: ConnectionOptions & { yes?: boolean },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  await confirm(`This deletes the integration ${integrationIdOrName}.`, options, {
    without: 'leave it',
    nothing: new Failure('Nothing was deleted.', 'svc integrations get tells what it declares.'),
  });
  await answerOf(api.DELETE(one, { params: { path: { projectIdOrName, integrationIdOrName } } }));
  say(options, { integration: integrationIdOrName, deleted: true }, `Deleted ${integrationIdOrName}.`);
}
