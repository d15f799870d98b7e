import type { ReadState, ReadStatus } from '../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { say } from './output.ts';
import { pageSizeOf, sayList, type Columns, type ListOptions } from './rows.ts';

/** How a read is, and why it is paused. */
const stateOf = ({ status, paused }: ReadState): string =>
  status === 'paused' && paused ? `${status}: ${paused.reason}` : status;

/** What is said of a read, after whose it is. */
export const readColumns: Columns<ReadState> = {
  object: ({ objectName }) => objectName,
  schedule: ({ schedule }) => schedule,
  state: stateOf,
  'read until': ({ watermark }) => watermark,
  'next run': ({ nextRunTime }) => nextRunTime,
  'last run': ({ lastRun }) => lastRun?.status,
};

interface Filter {
  status?: ReadStatus;
  object?: string;
  group?: string;
  installation?: string;
}

/** `svc reads list`: of all installations. */
export async function findReads(options: ListOptions & Filter): Promise<void> {
  const { status, object, group, installation } = options;
  const list = (await connect(options)).reads.find({
    ...pageSizeOf(options),
    ...(status === undefined ? {} : { status }),
    ...(object === undefined ? {} : { object }),
    ...(group === undefined ? {} : { groupRef: group }),
    ...(installation === undefined ? {} : { installationId: installation }),
  });
  await sayList(options, list, {
    installation: ({ installationId }) => installationId,
    group: ({ groupRef }) => groupRef,
    ...readColumns,
    sent: ({ lastRun }) => lastRun?.emitted,
    delivered: ({ lastRun }) => lastRun?.delivered,
    'failed in a row': ({ failures }) => failures,
  });
}

interface PauseOptions extends ConnectionOptions {
  integration: string;
  object?: string[];
  note?: string;
}

/** `svc reads pause` and `unpause`: of an installation, or of the objects that are named. */
export async function setReadsPaused(
  installationId: string,
  verb: 'pause' | 'unpause',
  options: PauseOptions,
): Promise<void> {
  const { integration, object: objects, note } = options;
  await (
    await connect(options)
  ).reads[verb]({
    integration,
    installationId,
    ...(objects === undefined ? {} : { objects }),
    ...(note === undefined ? {} : { note }),
  });
  const what = objects?.join(', ') ?? 'All that is read';
  say(
    options,
    { installationId, objects, paused: verb === 'pause' },
    `${what}: ${verb === 'pause' ? 'paused. svc reads unpause lets it go on' : 'goes on'}.`,
  );
}
