import {
  goOn,
  holdReplaced,
  movedGroups,
  openWindows,
  untilRenewed,
  type Replaced,
} from '../connections/index.ts';
import { pauseDisabled, raiseMessageNumbers } from '../deliveries/index.ts';
import { doneBefore, record } from '../events/index.ts';
import type { AuditAction } from '../events/audit/schema.ts';
import type { Queryable } from '../kit/db/database.ts';
import { sqlState } from '../kit/db/faults.ts';
import type { Clash, Written as WrittenRows } from '../kit/db/portable.ts';
import type { Ground } from '../kit/ground.ts';
import { problem } from '../kit/problem.ts';
import { revokeKeys } from '../projects/index.ts';
import { inSlices, parts, valuesOf, type Content } from './content.ts';
import { refusedByDatabase } from './malformed.ts';
import type { Import } from './schema.ts';
import { meanwhile } from './warnings.ts';

/** What is planned and then not kept. */
class DryRun extends Error {
  override readonly name = 'DryRun';
}

/** A connection that is to be replaced is being renewed. */
class Renewing extends Error {
  override readonly name = 'Renewing';
}

type Written = Pick<Import, 'created' | 'replaced' | 'unchanged' | 'warnings'>;

interface Taking {
  dryRun: boolean;
  /** The file is of an export with `move` by a release whose files hand nothing over. */
  isFormerMove: boolean;
}

/** In one transaction: all of it comes in, or nothing. A dry run is the same, and rolled back. */
export async function takeIn(
  ground: Pick<Ground, 'database' | 'vault' | 'log'>,
  projectId: string,
  content: Content,
  { dryRun, isFormerMove }: Taking,
): Promise<Written> {
  const { database, vault } = ground;
  let written: Written | undefined;
  let replaced: Replaced[] = [];
  const work = async (tx: Queryable): Promise<void> => {
    replaced = await holdAllReplaced(tx, projectId, content);
    written = await writeIn(tx, projectId, content, { vault, isFormerMove, replaced });
    if (dryRun) throw new DryRun();
    await raiseMessageNumbers(tx);
    const details = { created: written.created, replaced: written.replaced };
    await record(tx, { projectId, action: 'project.imported', targetId: projectId, details });
  };
  const attempt = async (): Promise<boolean> => {
    try {
      await database.transaction(work);
    } catch (error) {
      const state = sqlState(error) ?? '';
      // Data exceptions and broken constraints.
      if (/^2[23]/.test(state)) throw refusedByDatabase(state);
      if (error instanceof Renewing) return false;
      if (!(error instanceof DryRun)) throw error;
    }
    return true;
  };
  if (!(await untilRenewed(attempt)))
    throw problem('export-busy', { remedy: 'Import the file again in a minute.' });
  if (!written) throw new Error('nothing was written and nothing refused');
  if (!dryRun)
    await goOn(
      ground,
      projectId,
      replaced.map(({ id }) => id),
    );
  return written;
}

/** First, so that little is done in vain. */
async function holdAllReplaced(tx: Queryable, projectId: string, content: Content): Promise<Replaced[]> {
  const replaced: Replaced[] = [];
  for (const slice of inSlices(content['connections'] ?? [])) {
    const found = await holdReplaced(tx, projectId, slice);
    if (!found) throw new Renewing();
    replaced.push(...found);
  }
  return replaced;
}

async function writeIn(
  tx: Queryable,
  projectId: string,
  content: Content,
  {
    vault,
    isFormerMove,
    replaced,
  }: { vault: Ground['vault']; isFormerMove: boolean; replaced: readonly Replaced[] },
): Promise<Written> {
  await refuseClashes(tx, projectId, content);
  const came: Record<string, WrittenRows> = {};
  for (const part of parts) {
    const { kind } = part;
    const all: WrittenRows = { created: [], replaced: 0, over: [], differing: [] };
    for (const slice of inSlices(content[kind] ?? [])) {
      const ofSlice = await part.write(tx, projectId, slice, vault);
      all.created.push(...ofSlice.created);
      all.replaced += ofSlice.replaced;
      all.over.push(...ofSlice.over);
      all.differing.push(...ofSlice.differing);
    }
    came[kind] = all;
  }
  const counts = countsOf(came, content);
  await openWindows(tx, projectId, replaced);
  await pauseDisabled(
    tx,
    projectId,
    (came['destinations']?.created ?? []).map(({ id }) => id),
  );
  const again = await deletedBefore(tx, projectId, came);
  // What was deleted since it leaked does not come to life.
  for (const kind of ['apiKeys', 'jwtKeys'] as const)
    await revokeKeys(
      tx,
      projectId,
      kind,
      (again[kind] ?? []).map(({ id }) => id),
    );
  const warnings = meanwhile({
    moved: await movedGroups(tx, projectId),
    differing: mapped(came, ({ differing }) => differing),
    over: mapped(came, ({ over }) => over),
    again: mapped(again, (rows) => rows.map(({ name }) => name)),
    missing: wasHere(counts) ? await missingIn(tx, projectId, content) : {},
    isFormerMove,
  });
  return { ...counts, warnings };
}

async function refuseClashes(tx: Queryable, projectId: string, content: Content): Promise<void> {
  const clashes: Clash[] = [];
  for (const part of parts)
    for (const slice of inSlices(content[part.kind] ?? [])) {
      clashes.push(...(await part.clashes(tx, projectId, slice)));
      if (clashes.length > mostClashes) break;
    }
  if (clashes.length > 0) throw clashProblem(clashes);
}

function mapped<From, To>(
  of: Readonly<Record<string, From>>,
  to: (one: From, kind: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(of).map(([kind, one]) => [kind, to(one, kind)]));
}

function countsOf(came: Record<string, WrittenRows>, content: Content): Omit<Written, 'warnings'> {
  return {
    created: mapped(came, ({ created }) => created.length),
    replaced: mapped(came, ({ replaced }) => replaced),
    unchanged: mapped(
      came,
      ({ created, replaced }, kind) => (content[kind] ?? []).length - created.length - replaced,
    ),
  };
}

const deletions: Readonly<Record<string, AuditAction>> = {
  providerApps: 'providerApp.deleted',
  integrations: 'integration.deleted',
  apiKeys: 'apiKey.deleted',
  jwtKeys: 'jwtKey.deleted',
  connections: 'connection.deleted',
  installations: 'installation.deleted',
  destinations: 'destination.deleted',
  topics: 'topic.deleted',
  eventTopicRoutes: 'eventTopicRoute.deleted',
  topicDestinationRoutes: 'topicDestinationRoute.deleted',
};

/** Of what came in, by kind, that which was deleted here. */
async function deletedBefore(
  tx: Queryable,
  projectId: string,
  came: Readonly<Record<string, WrittenRows>>,
): Promise<Record<string, WrittenRows['created']>> {
  const found: Record<string, WrittenRows['created']> = {};
  for (const [kind, action] of Object.entries(deletions)) {
    const created = came[kind]?.created ?? [];
    const deleted = await doneBefore(
      tx,
      projectId,
      action,
      created.map(({ id }) => id),
    );
    found[kind] = created.filter(({ id }) => deleted.has(id));
  }
  return found;
}

/** Whether something of the project that the file was made of was here before. */
function wasHere({ replaced, unchanged }: Omit<Written, 'warnings'>): boolean {
  return ['connections', 'integrations'].some((kind) => (replaced[kind] ?? 0) + (unchanged[kind] ?? 0) > 0);
}

/** What is there and not in the file, by kind and name. */
async function missingIn(
  tx: Queryable,
  projectId: string,
  content: Content,
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const part of parts)
    found[part.kind] = await part.missing(tx, projectId, await valuesOf(content[part.kind], part.key));
  return found;
}

/** More are not looked for. */
const mostClashes = 100;

export function clashProblem(clashes: readonly Clash[]): Error {
  const [first] = clashes;
  return problem('import-clash', {
    detail: `${first?.kind} ${first?.name}: ${first?.reason}${clashes.length > 1 ? `, and ${clashes.length - 1} more` : ''}.`,
    issues: clashes.map(({ kind, name, reason }) => ({
      in: 'body',
      name: `${kind}.${name}`,
      detail: reason,
    })),
  });
}
