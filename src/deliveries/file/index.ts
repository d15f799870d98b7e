import { Value } from 'typebox/value';
import { join } from 'node:path';
import type {
  DeclaredKind,
  Delivered,
  DestinationKind,
  KindOptions,
  OpenDestination,
  OutgoingMessage,
} from '../kind.ts';
import { appendLine, NoFile, pathOf, type LineFile } from './append.ts';
import { FileMetadata, FileSecrets } from './schema.ts';

type File = DestinationKind<FileMetadata>;

const shape = { type: 'file', metadata: FileMetadata, secrets: FileSecrets };
const defaults = { maxBytes: 10_000_000, keep: 5 };
const onlyForDevelopment =
  'is for development only: with DATABASE_URL set nothing is written to files of the service. Choose webhook or s3';

export const file: DeclaredKind = { ...shape, create: createFile };

/** A line of JSON for each message, in a file on the machine of the service. */
export function createFile({ filesFolder }: KindOptions): File {
  const turns = createTurns();
  return {
    ...shape,
    check: (_metadata, { production }) =>
      production ? [{ in: 'body', name: 'type', detail: onlyForDevelopment }] : [],
    shareOf: ({ name }) => `file ${name}`,
    async deliver(message, destination, { signal, mayStillSend }) {
      if (filesFolder === undefined)
        return { kind: 'failed', error: `A destination of type file ${onlyForDevelopment}.` };
      // Checked when it was saved; a row that came in otherwise must not lead out of the folder.
      if (!Value.Check(FileMetadata, destination.metadata))
        return {
          kind: 'failed',
          error: 'The metadata of the destination are not those of a file: save them anew.',
        };
      const target = fileOf(filesFolder, destination);
      const line = await lineOf(message);
      // Names that differ in case are one file on some systems.
      return turns(pathOf(target, 0).toLowerCase(), async () => {
        if (signal.aborted || !mayStillSend()) return { kind: 'unsent' };
        return append(target, line);
      });
    },
  };
}

function fileOf(filesFolder: string, { projectId, metadata }: OpenDestination<FileMetadata>): LineFile {
  return { ...defaults, ...metadata, folder: join(filesFolder, projectId) };
}

/** A line break in JSON is space between its parts: in a text it is escaped. */
async function lineOf(message: OutgoingMessage): Promise<Buffer> {
  const head = { id: message.id, time: new Date().toISOString(), replay: message.replay };
  const body = (await message.body()).toString('utf8').replaceAll(/[\r\n]/g, ' ');
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"message":${body}}`);
}

async function append(target: LineFile, line: Buffer): Promise<Delivered> {
  try {
    await appendLine(target, line);
    return { kind: 'delivered' };
  } catch (error) {
    return { kind: 'failed', error: `${sentenceOf(error, pathOf(target, 0))}.` };
  }
}

function sentenceOf(error: unknown, path: string): string {
  if (error instanceof NoFile) return `${error.message}: move away what is there, or change metadata.name`;
  const { code = 'an error' } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `There is no room for ${path} (${code}): make some`;
  return `${path} could not be written (${code}): let the service write there, or change SVC_DATA_DIR`;
}

/** Runs work one after the other for each key. */
function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const latest = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (latest.get(key) ?? Promise.resolve()).then(work, work);
    latest.set(key, turn);
    try {
      return await turn;
    } finally {
      if (latest.get(key) === turn) latest.delete(key);
    }
  };
}
