import type { ConfigContent, Installation } from '../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { jsonFile } from './json-option.ts';
import { say } from './output.ts';
import { readColumns } from './reads.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

/** `svc installations list`. */
export async function listInstallations(
  options: ListOptions & { integration?: string; group?: string },
): Promise<void> {
  const { integration, group } = options;
  const list = (await connect(options)).installations.list({
    ...pageSizeOf(options),
    ...(integration === undefined ? {} : { integration }),
    ...(group === undefined ? {} : { groupRef: group }),
  });
  await sayList(options, list, {
    id: ({ id }) => id,
    group: (one) => one.group.groupRef,
    provider: ({ config }) => config.content.provider,
    integration: ({ integrationId }) => integrationId,
    health: ({ healthStatus }) => healthStatus,
    'last operation': ({ lastOperationStatus }) => lastOperationStatus,
    made: ({ createTime }) => createTime,
  });
}

interface OneOptions extends ConnectionOptions {
  integration: string;
}

/** `svc installations get`. */
export async function getInstallation(installationId: string, options: OneOptions): Promise<void> {
  const { integration } = options;
  await sayOne(options, await (await connect(options)).installations.get({ integration, installationId }));
}

/** `svc installations reads`: schedule, last and next run of each object. */
export async function listReads(installationId: string, options: ListOptions & OneOptions): Promise<void> {
  const { integration } = options;
  const states = await (await connect(options)).reads.list({ integration, installationId });
  async function* each() {
    yield* states;
  }
  await sayList(options, each(), { ...readColumns, destination: ({ destination }) => destination });
}

/** `svc installations create`: of a group that is connected. */
export async function createInstallation(
  integration: string,
  options: ConnectionOptions & { group: string; config?: string },
): Promise<void> {
  const svc = await connect(options);
  const content =
    options.config === undefined
      ? await plainContent(svc, integration)
      : ((await jsonFile('--config', options.config)) as ConfigContent);
  const made = await svc.installations.create({ integration, groupRef: options.group, config: { content } });
  say(options, made, lineOf(made));
}

interface UpdateOptions extends OneOptions {
  config?: string;
  part?: string[];
  connection?: string;
}

/** `svc installations update`: of its config all, or the parts that are named. */
export async function updateInstallation(installationId: string, options: UpdateOptions): Promise<void> {
  const { integration, config, part, connection } = options;
  if ((config === undefined && connection === undefined) || (config === undefined && part !== undefined))
    throw new Failure(
      part === undefined ? 'There is nothing to change.' : '--part is of a config, and there is none.',
      'Give --config, or --connection.',
      exitCodes.usage,
    );
  const content = config === undefined ? {} : await jsonFile('--config', config);
  const parts = config === undefined ? [] : (part?.map((path) => `.${path}`) ?? ['']);
  const changed = await (
    await connect(options)
  ).installations.update({
    integration,
    installationId,
    updateMask: [
      ...parts.map((path) => `config.content${path}`),
      ...(connection === undefined ? [] : ['connectionId']),
    ],
    installation: {
      ...(config === undefined ? {} : { config: { content } }),
      ...(connection === undefined ? {} : { connectionId: connection }),
    },
  });
  say(options, changed, lineOf(changed));
}

/** What a config must say at least: which provider. */
async function plainContent(
  svc: Awaited<ReturnType<typeof connect>>,
  integration: string,
): Promise<ConfigContent> {
  for await (const { id, name, provider } of svc.integrations.list())
    if (name === integration || id === integration) return { provider };
  throw new Failure(
    `There is no integration ${integration} in the project ${svc.project}.`,
    'Look for it with `svc integrations list`.',
  );
}

function lineOf({ id, group, warnings = [] }: Installation): string {
  return [`Installation ${id} for ${group.groupRef}.`, ...warnings.map(({ message }) => `  ${message}`)].join(
    '\n',
  );
}
