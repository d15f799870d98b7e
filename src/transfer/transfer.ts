import {
  areAllMoved,
  goOn,
  movedGroups,
  moveConnections,
  takeBackConnections,
  unendedGroups,
} from '../connections/index.ts';
import { raiseMessageNumbers } from '../deliveries/index.ts';
import { record } from '../events/index.ts';
import { mayBeDone } from '../kit/db/deeds.ts';
import { originOf } from '../kit/db/faults.ts';
import type { Clash, Portable, PortableRow } from '../kit/db/portable.ts';
import type { Ground } from '../kit/ground.ts';
import { Problem, problem, refuse, type Issue } from '../kit/problem.ts';
import { createQueue } from '../kit/queue.ts';
import { Turns } from '../kit/turns.ts';
import type { Projects } from '../projects/index.ts';
import type { Catalog } from '../providers/index.ts';
import { boundSettings } from './bounded.ts';
import {
  mostRows,
  namesAll,
  parts,
  readContent,
  requireFit,
  valuesOf,
  withoutConnection,
  writeContent,
  type Content,
} from './content.ts';
import { openFile, sealFile, unfoldedBytes } from './envelope.ts';
import { issueAt } from './malformed.ts';
import {
  fileFormat,
  fileVersion,
  firstHandingOver,
  type Export,
  type ExportRequest,
  type Import,
  type ImportRequest,
} from './schema.ts';
import { clashProblem, takeIn } from './take-in.ts';
import { movedEarlier, renewalUnended, warningsOf } from './warnings.ts';

/** A project that goes to another server, or to another project of this one. */
export interface Transfer {
  export(project: { id: string; name: string }, request: ExportRequest): Promise<Export>;
  /** The connections that an export moved are used here again. */
  undo(projectId: string): Promise<number>;
  import(projectId: string, request: ImportRequest): Promise<Import>;
}

/** Each may hold some hundred megabytes, and what is to be imported is in memory while it waits. */
const files = { atOnce: 1, waiting: 2, waitingOfOne: 1, retryAfterSeconds: 10 };

type Deps = Pick<Ground, 'database' | 'vault' | 'log'> & {
  catalog: Catalog;
  projects: Pick<Projects, 'boundKeepDays' | 'forget'>;
};

export function createTransfer(deps: Deps): Transfer {
  const inTurn = createQueue(files);
  return {
    export: (project, request) => inTurn(() => exportProject(deps, project, request), project.id),
    undo: (projectId) => inTurn(() => undoExport(deps, projectId), projectId),
    import: (projectId, request) => inTurn(() => importProject(deps, projectId, request), projectId),
  };
}

async function exportProject(
  deps: Deps,
  project: { id: string; name: string },
  request: ExportRequest,
): Promise<Export> {
  const { database } = deps;
  const { id: projectId } = project;
  const { move = false } = request;
  // Shown to whoever has the passphrase: written down before anything leaves.
  await record(database, {
    projectId,
    action: 'project.exported',
    targetId: projectId,
    details: { move },
  });
  const earlier = movedEarlier(await movedGroups(database, projectId));
  const { file, warnings } = await (move ? moveAway : makeFile)(deps, project, request);
  return { file, warnings: [...warnings, ...earlier] };
}

const mostMoves = 5;

/** Made again while connections are signed in here meanwhile, or taken back by another node: none that it hands over is used here. */
async function moveAway(
  deps: Deps,
  project: { id: string; name: string },
  request: ExportRequest,
): Promise<Export> {
  const { database } = deps;
  // What no file can be made of is found out while the connections are used here.
  await makeFile(deps, project, request);
  let isMoved = false;
  try {
    for (let moves = 1; moves <= mostMoves; moves += 1) {
      if (!(await moveConnections(database, project.id))) throw problem('export-busy', {});
      isMoved = true;
      const made = await makeFile(deps, project, request);
      if (await areAllMoved(database, project.id)) return made;
    }
  } catch (error) {
    throw error instanceof Problem && (isMoved || mayBeDone(error)) ? halfMoved(error) : error;
  }
  throw problem('export-busy', {
    detail: 'Connections are signed in or taken back here faster than a file of them can be made.',
  });
}

async function makeFile(
  { database, vault }: Deps,
  { id: projectId, name: project }: { id: string; name: string },
  { passphrase, move: moved = false }: ExportRequest,
): Promise<Export> {
  const content = await contentOf(database, projectId, vault);
  await requireFit(content).catch((error: unknown) => {
    throw error instanceof Problem ? unfit(error) : error;
  });
  const head = {
    format: fileFormat,
    version: fileVersion,
    project,
    createTime: new Date().toISOString(),
    moved,
    counts: countsOf(content),
  } as const;
  const text = await writeContent(content, unfoldedBytes);
  if (!text) throw tooLarge('takes more than 96 MB unpacked');
  const file = await sealFile(head, text, passphrase);
  if (!file) throw tooLarge('is larger than 24 MB');
  const unended = renewalUnended(await unendedGroups(database, projectId));
  return { file, warnings: [...(await warningsOf(file, content)), ...unended] };
}

function unfit(error: Problem): Problem {
  return problem('export-malformed', {
    ...error.details,
    remedy: 'Change or delete what `issues` names, by the id of each row, and export the project again.',
  });
}

/** What is marked stays so, and whoever asked is told, whatever the fault is. */
function halfMoved(error: Problem): Problem {
  // It says so itself.
  if (error.code === 'export-busy') return error;
  const moved = 'No file was made, and the connections are moved, or some of them';
  const takenBack = 'use the connections here again: POST …/exports:undo takes them back.';
  if (mayBeDone(error))
    return problem('database-unavailable', {
      detail: `${moved}: the database went away meanwhile.`,
      remedy: `Export with \`move\` again for the file. Or ${takenBack}`,
      retryable: false,
      cause: originOf(error),
    });
  const { detail, remedy = error.kind.remedy } = error.details;
  return problem(error.code, {
    ...error.details,
    detail: detail === undefined ? `${moved}.` : `${moved}. ${detail}`,
    remedy: `${remedy} Or ${takenBack}`,
  });
}

async function undoExport(deps: Deps, projectId: string): Promise<number> {
  const back = await deps.database.transaction(async (tx) => {
    const ids = await takeBackConnections(tx, projectId);
    // Where the file came in, messages may have been made.
    await raiseMessageNumbers(tx);
    const details = { connections: ids.length };
    await record(tx, { projectId, action: 'project.takenBack', targetId: projectId, details });
    return ids;
  });
  await goOn(deps, projectId, back);
  return back.length;
}

async function importProject(
  deps: Deps,
  projectId: string,
  { passphrase, file, dryRun = false }: ImportRequest,
): Promise<Import> {
  if (file.version > fileVersion)
    throw problem('export-newer', {
      detail: `The file has the format ${file.version}; this server reads up to ${fileVersion}.`,
    });
  const content = await contentIn(file, passphrase);
  const unknown = await unknownProviders(content, deps.catalog);
  if (unknown.length > 0) throw clashProblem(unknown);
  const bounded = boundSettings(content, deps.projects);
  const isFormerMove = file.moved && file.version < firstHandingOver;
  const written = await takeIn(deps, projectId, content, { dryRun, isFormerMove });
  if (!dryRun) deps.projects.forget(projectId);
  const ofSettings = written.created['settings'] ? bounded : [];
  const warnings = [...(await warningsOf(file, content)), ...ofSettings, ...written.warnings];
  return { projectId, dryRun, ...written, warnings };
}

/** The text of the file is not kept beside its rows. */
async function contentIn(file: ImportRequest['file'], passphrase: string): Promise<Content> {
  const text = await openFile(file, passphrase);
  if (text === undefined) throw problem('export-unreadable', {});
  return readContent(text, file.version);
}

const mostReads = 10;

/**
 * Read again while somebody changes the project, so that nothing names what is not in it. A connection that is missing twice
 * was deleted: it was made before what named it the first time.
 */
async function contentOf(
  database: Ground['database'],
  projectId: string,
  vault: Ground['vault'],
): Promise<Content> {
  let missing = new Set<string>();
  for (let reads = 1; ; reads += 1) {
    const content = await readAll(database, projectId, vault);
    const still = await withoutConnection(content);
    const isSettled = still.every(({ connectionId }) => missing.has(connectionId));
    if ((isSettled && (await namesAll(content))) || reads === mostReads) return content;
    missing = new Set(still.map(({ connectionId }) => connectionId));
  }
}

async function readAll(
  database: Ground['database'],
  projectId: string,
  vault: Ground['vault'],
): Promise<Content> {
  const content: Content = {};
  const shut: Issue[] = [];
  for (const part of parts) {
    const rows = await part.read(database, { projectId, limit: mostRows + 1 }, openedLater(vault));
    if (rows.length > mostRows) throw tooLarge(`has more than ${mostRows} ${part.kind}`);
    shut.push(...(await openAll(rows, part, vault)));
    content[part.kind] = rows;
  }
  if (shut.length > 0) throw refuse(shut, 'export-sealed');
  return content;
}

/** Opening takes about 50 µs, too long to do it for all rows at once. */
class Sealed {
  readonly value: Buffer;
  readonly place: string;
  constructor(value: Buffer, place: string) {
    this.value = value;
    this.place = place;
  }
}

function openedLater(vault: Ground['vault']): Ground['vault'] {
  return { ...vault, open: (value, place) => new Sealed(value, place) };
}

/** Answers what no master key opens. */
async function openAll(
  rows: readonly PortableRow[],
  { kind, key }: Pick<Portable, 'kind' | 'key'>,
  vault: Ground['vault'],
): Promise<Issue[]> {
  const turns = new Turns();
  const shut: Issue[] = [];
  for (const row of rows) {
    const { secret } = row;
    if (!(secret instanceof Sealed)) continue;
    try {
      row.secret = vault.open(secret.value, secret.place);
    } catch (error) {
      const [id] = await valuesOf([row], key);
      const detail = error instanceof Error ? error.message : 'cannot be opened';
      shut.push(issueAt(`${kind}[${id}]`, detail));
    }
    await turns.pass();
  }
  return shut;
}

function tooLarge(why: string): Error {
  return problem('export-too-large', { detail: `The project ${why}.` });
}

function countsOf(content: Content): Record<string, number> {
  return Object.fromEntries(Object.entries(content).map(([kind, rows]) => [kind, rows.length]));
}

async function unknownProviders(content: Content, catalog: Catalog): Promise<Clash[]> {
  const named = ['providerApps', 'integrations', 'connections'].flatMap((kind) => content[kind] ?? []);
  const providers = new Set(await valuesOf(named, ['provider']));
  return [...providers]
    .filter((name) => !catalog.find(name))
    .map((name) => ({ kind: 'providers', name, reason: 'it is not in the catalogue of this server' }));
}
