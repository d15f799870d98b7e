import type { FileHandle } from 'node:fs/promises';
import type { Export, Import, ImportRequest, Svc } from '../../ui/client/src/index.ts';
import { secretGiven } from './ask-secret.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { withNew } from './new-file.ts';
import { inOptions } from './option-names.ts';
import { counted, say, tell } from './output.ts';
import { whyUnwritten } from './plain.ts';
import { readText } from './text-file.ts';

/** Nothing is sent again unasked: an export that moves may wait for a minute, an import takes what it takes. */
const patience = { retries: 0, retryWithinMs: 0, timeoutMs: 600_000 };
const leastCharacters = 12;
const undoing = '`svc export --undo` uses the connections here again';

interface ExportOptions extends ConnectionOptions {
  move?: boolean;
  undo?: boolean;
  yes?: boolean;
}

/** `svc export`: makes a file of a project, which nobody else can read. */
export async function exportProject(path: string, options: ExportOptions): Promise<void> {
  const svc = await connect(options, patience);
  if (options.undo) {
    const undone = await svc.transfer.undoExport();
    say(options, undone, `${counted(undone.connections, 'connection')} of ${svc.project} used here again.`);
    if (undone.connections > 0)
      tell(
        'Where the file was imported, they are not to be used any more: `svc export --move` there ends it, and its file is thrown away.',
      );
    return;
  }
  const { move = false } = options;
  if (move) {
    const unfinished = await unfinishedOf(svc);
    if (options.yes && unfinished !== undefined) tell(unfinished);
    await confirm(
      [`With --move, no connection of ${svc.project} is used on this server from then on.`, unfinished]
        .filter(Boolean)
        .join(' '),
      options,
      {
        without: 'leave out --move',
        nothing: new Failure('Nothing was exported.', 'Without --move the connections are used on here.'),
      },
    );
  }
  const passphrase = await passphraseGiven(true);
  const made = await withNew(path, async (handle) => {
    if (move) tell(`If this is interrupted: ${undoing}.`);
    const exported = await svc.transfer.export({ passphrase, move });
    await fill(handle, `${JSON.stringify(exported.file)}\n`, path, move);
    return exported;
  });
  sayExport(options, path, made);
}

const mostCounted = 1_000;

/** What a move ends that was accepted, in words; nothing where nothing is under way. */
async function unfinishedOf(svc: Svc): Promise<string | undefined> {
  let count = 0;
  for await (const _ of svc.operations.find({ status: 'in_progress', pageSize: 100 })) {
    count += 1;
    if (count === mostCounted) break;
  }
  if (count === 0) return undefined;
  const told =
    count === mostCounted
      ? `${mostCounted} operations or more are`
      : `${counted(count, 'operation')} ${count === 1 ? 'is' : 'are'}`;
  return `${told} unfinished and will fail: wait until \`svc operations list --status in_progress\` is empty.`;
}

function sayExport(options: ConnectionOptions, path: string, { file, warnings }: Export): void {
  const { project, createTime, moved, counts } = file;
  say(
    options,
    { path, project, createTime, moved, counts, warnings },
    `${project} is in ${path}: ${listed(counts)}. Only its passphrase opens it.`,
  );
  if (!options.json) for (const { message } of warnings) tell(inOptions(message));
}

/** `svc import`: takes a file in, whole or not at all. */
export async function importProject(
  path: string,
  options: ConnectionOptions & { dryRun?: boolean },
): Promise<void> {
  const file = await fileAt(path);
  const svc = await connect(options, patience);
  const passphrase = await passphraseGiven(false);
  const came = await svc.transfer.import({ passphrase, file, dryRun: options.dryRun === true });
  sayImport(options, svc.project, came);
}

function sayImport(options: ConnectionOptions, project: string, came: Import): void {
  const { created, replaced, unchanged, dryRun, warnings } = came;
  const news = listed(created);
  const changed = listed(replaced);
  const rest = listed(unchanged);
  say(
    options,
    came,
    [
      `${dryRun ? 'Would come' : 'Came'} into ${project}: ${news === '' ? 'nothing new' : news}.`,
      ...(changed === '' ? [] : [`There already, and now as in the file: ${changed}.`]),
      ...(rest === '' ? [] : [`There already, and left alone: ${rest}.`]),
    ].join('\n'),
  );
  if (!options.json) for (const { message } of warnings) tell(inOptions(message));
}

async function passphraseGiven(isNew: boolean): Promise<string> {
  const passphrase = lineOf(await secretGiven('Passphrase: '));
  if (passphrase.length < leastCharacters)
    throw new Failure(
      passphrase === '' ? 'No passphrase was given.' : 'The passphrase is too short.',
      `Type ${leastCharacters} characters or more when asked, or pipe them in: < passphrase.txt`,
      exitCodes.usage,
    );
  if (isNew && process.stdin.isTTY && lineOf(await secretGiven('Once more: ')) !== passphrase)
    throw new Failure('That was another passphrase.', 'Nothing was exported; begin again.', exitCodes.usage);
  return passphrase;
}

/** Blanks belong to a passphrase, the end of its line does not. */
function lineOf(text: string): string {
  return text.replace(/\r?\n$/, '');
}

async function fill(handle: FileHandle, text: string, path: string, moved: boolean): Promise<void> {
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
  } catch (error) {
    throw new Failure(
      `${path} cannot be written: ${whyUnwritten(error)}.`,
      moved ? `Make room and export again, or take it back: ${undoing}.` : 'Make room, or name another file.',
    );
  }
}

async function fileAt(path: string): Promise<ImportRequest['file']> {
  const text = await readText(path, 'Name the file that `svc export` made.');
  try {
    const file = JSON.parse(text) as Partial<ImportRequest['file']> | null;
    if (file?.format === 'svc-project' && typeof file.data === 'string') return file as ImportRequest['file'];
  } catch {
    // said below
  }
  throw new Failure(`${path} is no export of a project.`, 'Make one by `svc export`.', exitCodes.usage);
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${wordsOf(kind)} ${count}`)
    .join(', ');
}

/** `providerApps` as people say it. */
function wordsOf(kind: string): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
