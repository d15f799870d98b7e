import {
  answerOf,
  listOf,
  type Delivery,
  type DeliveryStatus,
  type ReplayFilter,
} from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { counted, say } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

interface Filter {
  destination?: string;
  status?: DeliveryStatus;
  object?: string;
  group?: string;
  installation?: string;
  from?: string;
  to?: string;
}

function filterOf({ destination, status, object, group, installation, from, to }: Filter): ReplayFilter {
  const given = { destination, status, object, groupRef: group, installationId: installation, from, to };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** `svc deliveries list`. */
export async function listDeliveries(options: ListOptions & Filter): Promise<void> {
  const list = (await connect(options)).deliveries.list({ ...filterOf(options), ...pageSizeOf(options) });
  await sayList(options, list, {
    id: ({ id }) => id,
    made: ({ createTime }) => createTime,
    about: ({ notificationType, objectName }) => notificationType ?? objectName,
    group: ({ groupRef }) => groupRef,
    records: ({ numRecords }) => numRecords,
    status: ({ status }) => status,
    attempts: ({ attemptCount }) => attemptCount,
    answer: ({ httpStatus, error }: Delivery) => error ?? httpStatus,
  });
}

/** `svc deliveries get`: with its attempts. */
export async function getDelivery(
  id: string,
  options: ConnectionOptions & { body?: boolean },
): Promise<void> {
  const query = options.body ? { includeBody: true } : {};
  await sayOne(options, await (await connect(options)).deliveries.get(id, query));
}

/** `svc deliveries retry`. */
export async function retryDelivery(id: string, options: ConnectionOptions): Promise<void> {
  await sayOne(options, await (await connect(options)).deliveries.retry(id));
}

interface ReplayOptions extends ConnectionOptions, Filter {
  into?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** `svc deliveries replay`: counts, asks, and sends again what fits. */
export async function replayDeliveries(options: ReplayOptions): Promise<void> {
  const { into, dryRun, destination } = options;
  if (into === undefined && destination === undefined)
    throw new Failure(
      'There is nothing that says where to send again.',
      'Say whose deliveries are meant by --destination, or where they go by --into.',
      exitCodes.usage,
    );
  const svc = await connect(options);
  const request = {
    filter: filterOf(options),
    ...(into === undefined ? {} : { destination: into }),
  };
  const counting = await svc.deliveries.replay({ ...request, dryRun: true });
  const many = `${counting.countIsComplete ? '' : 'more than '}${counted(counting.count, 'delivery', 'deliveries')}`;
  if (dryRun) {
    say(options, counting, `${many} would be sent again.`);
    return;
  }
  await confirm(`This sends ${many} again.`, options, {
    without: 'say --dry-run to count only',
    nothing: new Failure('Nothing is sent.', 'Narrow it by --destination, --status, --group, --from, --to.'),
  });
  const started = await svc.deliveries.replay(request);
  say(
    options,
    started,
    `Replay ${started.replayId ?? ''} of ${many}: svc deliveries replays tells how far it is.`,
  );
}

const replays = '/v1/projects/{projectIdOrName}/replays';

/** `svc deliveries replays`. */
export async function listReplays(options: ListOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const list = listOf(
    (query) => answerOf(api.GET(replays, { params: { path: { projectIdOrName }, query } })),
    pageSizeOf(options),
  );
  await sayList(options, list, {
    id: ({ id }) => id,
    made: ({ createTime }) => createTime,
    status: ({ status }) => status,
    delivered: ({ progress: { queued, delivered } }) => `${delivered} of ${queued}`,
    failed: ({ progress }) => progress.failed,
  });
}

/** `svc deliveries cancel-replay`. */
export async function cancelReplay(replayId: string, options: ConnectionOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName, replayId } };
  await sayOne(options, await answerOf(api.POST(`${replays}/{replayId}:cancel`, { params })));
}
