import { answerOf, type Svc } from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { Failure } from './failure.ts';
import { counted, say } from './output.ts';
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
  const svc = await connect(options);
  const { api, project: projectIdOrName } = svc;
  const params = { path: { projectIdOrName, integrationIdOrName } };
  const { name } = await answerOf(api.GET(one, { params }));
  await confirm(`This deletes the integration ${name}${await withInstallations(svc, name)}.`, options, {
    without: 'leave it',
    nothing: new Failure('Nothing was deleted.', 'svc integrations get tells what it declares.'),
  });
  await answerOf(api.DELETE(one, { params }));
  say(options, { integration: name, deleted: true }, `Deleted ${name}.`);
}

const mostNamed = 5;

/** What goes with an integration: how many customers have it, and who they are. */
async function withInstallations(svc: Svc, integration: string): Promise<string> {
  const groups: string[] = [];
  for await (const { group } of svc.installations.list({ integration })) groups.push(group.groupRef);
  if (groups.length === 0) return ', which nobody has installed';
  const named = groups.slice(0, mostNamed).join(', ') + (groups.length > mostNamed ? ', …' : '');
  return ` and ${counted(groups.length, 'installation')} of it (${named}): their configs go, their reads end, and their connections stay`;
}
