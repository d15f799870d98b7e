import {
  answerOf,
  listOf,
  onlyPage,
  type CreateDestinationRequest,
  type Destination,
  type DestinationPage,
  type DestinationType,
  type UpdateDestinationRequest,
} from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { jsonOption } from './json-option.ts';
import { say } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

const all = '/v1/projects/{projectIdOrName}/destinations';
const one = `${all}/{destination}` as const;

/** `svc destinations list`. */
export async function listDestinations(options: ListOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const list = listOf(
    async (query) =>
      onlyPage<DestinationPage>(
        await answerOf(api.GET(all, { params: { path: { projectIdOrName }, query } })),
      ),
    pageSizeOf(options),
  );
  await sayList(options, list, {
    name: ({ name }) => name,
    type: ({ type }) => type,
    to: placeOf,
    status: ({ status, reason }) => [status, reason].filter(Boolean).join(': '),
    'failing since': ({ failingSince }) => failingSince,
  });
}

function placeOf({ metadata }: Destination): string {
  return 'url' in metadata ? metadata.url : 'bucket' in metadata ? metadata.bucket : metadata.name;
}

/** `svc destinations get`. */
export async function getDestination(
  destination: string,
  options: ConnectionOptions & { secrets?: boolean },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = {
    path: { projectIdOrName, destination },
    ...(options.secrets ? { query: { includeSecrets: true } } : {}),
  };
  await sayOne(options, await answerOf(api.GET(one, { params })));
}

interface CreateOptions extends ConnectionOptions {
  type: DestinationType;
  address?: string;
  metadata?: string;
  secrets?: string;
}

/** `svc destinations create`. */
export async function createDestination(name: string, options: CreateOptions): Promise<void> {
  const { type, address, metadata, secrets } = options;
  if (address === undefined && metadata === undefined)
    throw new Failure(
      'A destination needs a place.',
      'Give --address, or --metadata with all that its type takes.',
      exitCodes.usage,
    );
  const body = {
    name,
    type,
    metadata: {
      ...(metadata === undefined ? {} : await jsonOption('--metadata', metadata)),
      ...(address === undefined ? {} : { url: address }),
    },
    ...(secrets === undefined ? {} : { secrets: await jsonOption('--secrets', secrets) }),
  } as CreateDestinationRequest;
  const { api, project: projectIdOrName } = await connect(options);
  const made = await answerOf(api.POST(all, { params: { path: { projectIdOrName } }, body }));
  await sayOne(options, made);
}

interface UpdateOptions extends ConnectionOptions {
  name?: string;
  address?: string;
  metadata?: string;
  secrets?: string;
}

/** `svc destinations update`: only what is given changes; null takes a member away. */
export async function updateDestination(destination: string, options: UpdateOptions): Promise<void> {
  const { name, address, metadata, secrets } = options;
  const changed = {
    ...(metadata === undefined ? {} : await jsonOption('--metadata', metadata)),
    ...(address === undefined ? {} : { url: address }),
  };
  const shown = secrets === undefined ? {} : await jsonOption('--secrets', secrets);
  const updateMask = [
    ...(name === undefined ? [] : ['name']),
    ...Object.keys(changed).map((member) => `metadata.${member}`),
    ...Object.keys(shown).map((member) => `secrets.${member}`),
  ];
  if (updateMask.length === 0)
    throw new Failure(
      'There is nothing to change.',
      'Give --name, --address, --metadata or --secrets.',
      exitCodes.usage,
    );
  const body = {
    updateMask,
    destination: { ...(name === undefined ? {} : { name }), metadata: changed, secrets: shown },
  } as UpdateDestinationRequest;
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, destination } };
  await sayOne(options, await answerOf(api.PATCH(one, { params, body })));
}

/** `svc destinations enable` and `disable`. */
export async function setDestinationActive(
  destination: string,
  verb: 'enable' | 'disable',
  options: ConnectionOptions,
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, destination } };
  await sayOne(options, await answerOf(api.POST(`${one}:${verb}`, { params })));
}

/** `svc destinations test`: sends a message of no content; the exit code is 1 when it did not arrive. */
export async function testDestination(destination: string, options: ConnectionOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const test = await answerOf(
    api.POST(`${one}:test`, { params: { path: { projectIdOrName, destination } } }),
  );
  await sayOne(options, test);
  if (!test.success) process.exitCode = exitCodes.refused;
}

/** `svc destinations rotate`: makes a new signing key; the old one signs beside it for a time. */
export async function rotateDestination(
  destination: string,
  options: ConnectionOptions & { overlap: number },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, destination } };
  await sayOne(
    options,
    await answerOf(api.POST(`${one}:rotate`, { params, body: { overlapHours: options.overlap } })),
  );
}

/** `svc destinations delete`. */
export async function deleteDestination(
  destination: string,
  options: ConnectionOptions & { yes?: boolean; cancelPending?: boolean },
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  await confirm(`This deletes the destination ${destination}.`, options, {
    without: 'disable it instead',
    nothing: new Failure('Nothing was deleted.', 'To stop it for a time: svc destinations disable.'),
  });
  const query = options.cancelPending ? { cancelPending: true } : {};
  await answerOf(api.DELETE(one, { params: { path: { projectIdOrName, destination }, query } }));
  say(options, { destination, deleted: true }, `Deleted ${destination}.`);
}
