import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Fields, Svc } from '../../../ui/client/src/index.ts';
import { addressOf, connect } from '../connection.ts';
import { exitCodes, Failure } from '../failure.ts';
import { jsonOption } from '../json-option.ts';
import { say } from '../output.ts';
import { whyUnread } from '../plain.ts';
import { asKnown } from './ground.ts';
import { readLines, type KeyGround } from './lines.ts';
import { requestOf, type Target, type WriteOptions } from './options.ts';
import { send } from './send.ts';
import { writeLines, type Destination } from './write-lines.ts';

const patience = { retries: 6, retryWithinMs: 60_000, fetch: send };

/** `svc write`: one record of `--data`, or one for each line of a file or of what is piped in. */
export async function write(integration: string, object: string, options: WriteOptions): Promise<void> {
  const { group, type, by, mode, data, file } = options;
  if ((type === 'upsert') !== (by !== undefined))
    throw usage(
      '--by belongs to --type upsert, and an upsert needs it',
      'Give the field that tells the records apart, such as --by email.',
    );
  const goesBy = by === undefined ? {} : { upsertBy: by };
  const target: Target = { integration, object, groupRef: group, type, ...goesBy, mode };
  if (data !== undefined) {
    if (file !== undefined) throw usage('--data and --file exclude one another', 'Give one of them.');
    const record = (await jsonOption('--data', data, '{"email":"ada@example.com"}')) as Fields;
    await writeOne(await connect(options), target, record, options);
    return;
  }
  if (options.dryRun || options.idempotencyKey !== undefined)
    throw usage('--dry-run and --idempotency-key are for one record', 'Give the record with --data.');
  if (file === undefined && process.stdin.isTTY)
    throw usage('There is no record to write', 'Give --data, --file, or pipe lines of JSON in.');
  const { project } = await addressOf(options);
  let to: Destination = { svc: await connect(options, patience), target };
  const { run } = options;
  const ground = {
    project,
    integration,
    object,
    group,
    type,
    ...goesBy,
    mode,
    ...(run === undefined ? {} : { run }),
  };
  const { input, bytes } = await inputOf(file);
  const groundOf = async (signal: AbortSignal): Promise<KeyGround> => {
    const known = await asKnown(to.svc, ground, signal);
    to = {
      svc:
        known.project === project ? to.svc : await connect({ ...options, project: known.project }, patience),
      target: { ...target, integration: known.integration, object: known.object },
    };
    return known;
  };
  const linesUntil = (signal: AbortSignal) => readLines(input, groundOf, signal, file);
  const lines = await writeLines(() => to, linesUntil, options, bytes);
  if (lines === 0)
    throw usage(
      `There is no record to write in ${file ?? 'what was piped in'}`,
      'Give --data, or a JSON object in each line.',
    );
}

async function writeOne(svc: Svc, target: Target, record: Fields, options: WriteOptions): Promise<void> {
  const { idempotencyKey = randomUUID(), dryRun = false } = options;
  const request = { ...requestOf(target, record), dryRun };
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(interrupted(target, idempotencyKey));
  // Of what is only planned there is nothing to tell.
  if (!dryRun) process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const answer = await svc.write(request, { idempotencyKey, signal: stop.signal });
    say(options, answer, JSON.stringify(answer, null, 2));
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function interrupted({ groupRef }: Target, idempotencyKey: string): Failure {
  return new Failure(
    'Interrupted: the write may have been done.',
    `\`svc operations list -g ${/^[\w.-]+$/.test(groupRef) ? groupRef : `'${groupRef}'`}\` tells whether it was. The same command with --idempotency-key ${idempotencyKey} does it once.`,
    exitCodes.interrupted,
    { code: 'interrupted', idempotencyKey },
  );
}

/** What holds the lines, and how many bytes that are. */
async function inputOf(file: string | undefined): Promise<{ input: Readable; bytes?: number }> {
  if (file === undefined || file === '-') return { input: process.stdin };
  const unread = (why: string): Failure =>
    usage(`${file} cannot be read: ${why}`, 'Name a file with a JSON object in each line.');
  const handle = await open(file).catch((error: unknown) => {
    throw unread(whyUnread(error));
  });
  const found = await handle.stat();
  if (found.isDirectory()) {
    await handle.close();
    throw unread('it is a folder');
  }
  // A pipe that has a name is as long as it is written to.
  return { input: handle.createReadStream(), ...(found.isFile() ? { bytes: found.size } : {}) };
}

function usage(message: string, remedy: string): Failure {
  return new Failure(`${message}.`, remedy, exitCodes.usage);
}
