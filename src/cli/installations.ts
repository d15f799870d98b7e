import { answerOf, type ConfigContent, type Installation, type Svc } from '../../ui/client/src/index.ts';
import { ConfigContent as ContentSchema } from '../installations/config/schema.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { jsonFile, jsonValueFile } from './json-option.ts';
import { say } from './output.ts';
import { readColumns } from './reads.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';
import { wholeContent } from './whole-content.ts';

/** `svc installations list`. */
export async function listInstallations(
  options: ListOptions & { integration?: string; group?: string; health?: Installation['healthStatus'] },
): Promise<void> {
  const { integration, group, health } = options;
  const list = (await connect(options)).installations.list({
    ...pageSizeOf(options),
    ...(integration === undefined ? {} : { integration }),
    ...(group === undefined ? {} : { groupRef: group }),
    ...(health === undefined ? {} : { healthStatus: health }),
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
  const { group: groupRef, config } = options;
  if (config !== undefined) {
    const content = (await jsonFile('--config', config)) as ConfigContent;
    const made = await svc.installations.create({ integration, groupRef, config: { content } });
    return say(options, made, lineOf(made));
  }
  const { name, content } = await declaredBy(svc, integration);
  const made = await svc.installations.create({ integration, groupRef, config: { content } });
  const chosen = `  Without --config it has all that ${name} declares: ${partsOf(content)}.`;
  say(options, made, `${lineOf(made)}\n${chosen}`);
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
  const content = config === undefined ? {} : await contentOf(config, part);
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

const contentMembers = Object.keys(ContentSchema.properties);

/** The content that a part is taken from: what was given is that, or the value of the only part. */
async function contentOf(config: string, parts: readonly string[] = []): Promise<object> {
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0) return jsonFile('--config', config);
  const given = await jsonValueFile('--config', config);
  if (isContent(given)) return given;
  const [last = part, ...above] = part.split('.').toReversed();
  return above.reduce<object>((value, name) => ({ [name]: value }), { [last]: given });
}

function isContent(given: unknown): given is object {
  return (
    typeof given === 'object' && given !== null && contentMembers.some((name) => Object.hasOwn(given, name))
  );
}

/** `svc installations delete`. */
export async function deleteInstallation(
  installationId: string,
  options: OneOptions & { yes?: boolean },
): Promise<void> {
  const { integration } = options;
  const svc = await connect(options);
  const installation = await svc.installations.get({ integration, installationId });
  const what = `the installation of ${integration} for ${installation.group.groupRef}`;
  const connectionId = await lastUsed(svc, installation);
  const goes =
    connectionId === undefined ? '' : ` Its connection ${connectionId} goes, too: nothing else uses it.`;
  await confirm(`This deletes ${what}. Nothing is read and written for it any more.${goes}`, options, {
    without: 'pause its reads instead',
    nothing: new Failure('Nothing was deleted.', 'To stop its reads for a time: svc reads pause.'),
  });
  await svc.installations.delete({ integration, installationId });
  const gone = connectionId === undefined ? '' : `, and its connection ${connectionId}`;
  say(
    options,
    { id: installationId, deleted: true, ...(connectionId === undefined ? {} : { connectionId }) },
    `Deleted ${what}${gone}.`,
  );
}

/** The connection of an installation, if it is there and no other installation uses it: svc deletes it, too. */
async function lastUsed(svc: Svc, { id, group, connection }: Installation): Promise<string | undefined> {
  for await (const other of svc.installations.list({ groupRef: group.groupRef }))
    if (other.id !== id && other.connection?.id === connection?.id) return undefined;
  const found = svc.connections.list({ groupRef: group.groupRef });
  for await (const one of found) if (one.id === connection?.id) return one.id;
  return undefined;
}

/** A config with everything that the newest revision of an integration declares. */
async function declaredBy(svc: Svc, integration: string): Promise<{ name: string; content: ConfigContent }> {
  const path = { projectIdOrName: svc.project, integrationIdOrName: integration };
  const one = '/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}';
  const { name, latestRevision } = await answerOf(svc.api.GET(one, { params: { path } }));
  return { name, content: wholeContent(latestRevision.content) };
}

function partsOf({ read, write, proxy }: ConfigContent): string {
  const objects = (part: { objects?: object } | undefined): string =>
    Object.keys(part?.objects ?? {})
      .toSorted()
      .join(', ');
  const parts = [
    ...(read ? [`reads ${objects(read)}`] : []),
    ...(write ? [`writes ${objects(write)}`] : []),
    ...(proxy?.enabled ? ['calls through the proxy'] : []),
  ];
  return parts.join('; ') || 'nothing';
}

function lineOf({ id, group, warnings = [] }: Installation): string {
  return [`Installation ${id} for ${group.groupRef}.`, ...warnings.map(({ message }) => `  ${message}`)].join(
    '\n',
  );
}
