import { beforeAndAfter, record } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { isTaken } from '../kit/db/faults.ts';
import type { Ground } from '../kit/ground.ts';
import { isId, newId } from '../kit/ids.ts';
import { hurry, pause } from '../lanes/index.ts';
import type { Slice } from '../kit/paging.ts';
import { problem, refuse, type Problem } from '../kit/problem.ts';
import { sleep } from '../kit/retry.ts';
import { readMask } from '../kit/update-mask.ts';
import type { CheckContext, DestinationKind } from './kind.ts';
import { knownForMs, type KnownDestinations } from './known.ts';
import { faultsOf } from './metadata.ts';
import { isFailingTooLong } from './next-attempt.ts';
import type { Disabling } from './settle.ts';
import { forgetRoutesTo } from './notifications/index.ts';
import { withoutSecrets } from './present.ts';
import { replayDeadLetters } from './replay/begin.ts';
import { endReplaysTo } from './replay/store.ts';
import type { CreateDestinationRequest, UpdateDestinationRequest } from './schema.ts';
import { formerIn, openSecrets, sealSecrets, type StoredSecrets } from './secrets.ts';
import * as store from './store/destinations.ts';

type Row = store.DestinationRow;

/** Where a builder wants things delivered: made, changed, switched. Every function throws not-found for what the project has not. */
export interface Destinations {
  list(projectId: string, slice?: Slice & { state?: store.DestinationState }): Promise<Row[]>;
  get(projectId: string, nameOrId: string): Promise<Row>;
  create(projectId: string, request: CreateDestinationRequest): Promise<Row>;
  update(projectId: string, nameOrId: string, request: UpdateDestinationRequest): Promise<Row>;
  /** What waits for it is canceled. */
  delete(projectId: string, nameOrId: string, options: { cancelPending: boolean }): Promise<void>;
  /** The secrets, for whoever may see them: the audit log has it before. */
  disclose(row: Row): Promise<object>;
  /** New secrets; those of before are good for a while. */
  rotate(projectId: string, nameOrId: string, overlapMs: number): Promise<{ row: Row; secrets: object }>;
  /** What waits goes on, and what ran out of attempts is sent again. */
  enable(projectId: string, nameOrId: string): Promise<Row>;
  /** What comes waits. */
  disable(projectId: string, nameOrId: string): Promise<Row>;
  /**
   * Because of how it behaves; told as an event. Nothing happens where it is disabled already, or gone, was changed or enabled since
   * it was called, or does not fail for so long any more.
   */
  disableFor(projectId: string, id: string, why: Disabling): Promise<void>;
}

export interface DestinationDeps {
  ground: Ground;
  known: KnownDestinations;
  kinds: ReadonlyMap<string, DestinationKind>;
  context: CheckContext;
  announce: (destinationId: string) => void;
}

export function createDestinations(deps: DestinationDeps): Destinations {
  const { database } = deps.ground;
  return {
    list: (projectId, slice) => store.listDestinations(database, projectId, slice),
    async get(projectId, nameOrId) {
      const [row] = await store.loadDestinations(database, [keyOf(projectId, nameOrId)]);
      return row ?? absent(nameOrId);
    },
    create: (projectId, request) => create(deps, projectId, request),
    update: (projectId, nameOrId, request) => update(deps, projectId, nameOrId, request),
    delete: (projectId, nameOrId, options) => remove(deps, projectId, nameOrId, options),
    async disclose(row) {
      await record(database, {
        projectId: row.project_id,
        action: 'destination.disclosed',
        targetId: row.id,
        details: { name: row.name },
      });
      return openSecrets(deps.ground.vault, row).current;
    },
    rotate: (projectId, nameOrId, overlapMs) => rotate(deps, projectId, nameOrId, overlapMs),
    ...switches(deps),
  };
}

function switches(deps: DestinationDeps): Pick<Destinations, 'enable' | 'disable' | 'disableFor'> {
  return {
    enable: (projectId, nameOrId) =>
      changing(deps, projectId, nameOrId, async (tx, row) => {
        const changed = await store.setDestinationStatus(tx, keyOfRow(row), 'active', null);
        await replayDeadLetters(tx, projectId, row.id, deps.kinds.get(row.type)?.recordsOnly === true);
        // Whoever asks for this has mended it: what waits for a later attempt is tried now. This holds the lane until the commit.
        await hurry(tx, projectId, row.id);
        if (!changed || row.status === 'active') return changed ?? row;
        await pause(tx, projectId, row.id, false);
        await record(tx, {
          projectId,
          action: 'destination.enabled',
          targetId: row.id,
          details: { name: row.name },
        });
        return changed;
      }),
    disable: (projectId, nameOrId) =>
      changing(deps, projectId, nameOrId, async (tx, row) => {
        const reason = 'Disabled by hand.';
        return (await disable(tx, row, { reason, isTold: false })) ?? row;
      }),
    async disableFor(projectId, id, { reason, failing, changedAt }) {
      const changed = await deps.ground.database.transaction(async (tx) => {
        const row = await store.lockDestination(tx, { projectId, id });
        const isSame = row?.updated_at.getTime() === changedAt.getTime();
        const isSo = isSame && (!failing || isFailingTooLong(failingForMs(row)));
        return isSo && disable(tx, row, { reason, isTold: true });
      });
      if (!changed) return;
      deps.known.forget(changed);
      deps.ground.log.warn({ projectId, destinationId: id, reason }, 'a destination was disabled');
    },
  };
}

async function disable(
  tx: Queryable,
  row: Row,
  { reason, isTold }: { reason: string; isTold: boolean },
): Promise<Row | undefined> {
  const { project_id: projectId, id, name, type } = row;
  const changed = await store.setDestinationStatus(tx, keyOfRow(row), 'disabled', reason);
  // In any case: its lane alone decides whether something is sent.
  await pause(tx, projectId, id, true);
  if (!changed) return undefined;
  // That of another kind may be a credential, as Slack's is.
  const url = type === 'webhook' ? { url: withoutSecrets(row)['url'] } : {};
  const data = { projectId, destinationId: id, destinationName: name, ...url, reason };
  await record(tx, {
    projectId,
    action: 'destination.disabled',
    targetId: id,
    details: { name, reason },
    told: isTold ? { type: 'destination.webhook.disabled', data: JSON.stringify(data) } : undefined,
  });
  return changed;
}

/** What is for those of them that are disabled waits: they came in so, and nobody else sees them yet. */
export async function pauseDisabled(tx: Queryable, projectId: string, ids: Iterable<string>): Promise<void> {
  const asked = new Set(ids);
  const disabled = await store.listDestinations(tx, projectId, { state: 'disabled' });
  for (const { id } of disabled) if (asked.has(id)) await pause(tx, projectId, id, true);
}

async function create(
  deps: DestinationDeps,
  projectId: string,
  request: CreateDestinationRequest,
): Promise<Row> {
  const { name, type, metadata, secrets: given = {} } = request;
  const kind = kindOf(deps, type);
  assertName(name);
  const faults = faultsOf(kind, { metadata, secrets: given }, deps.context);
  if (faults.length > 0) throw refuse(faults);
  const place = { project_id: projectId, id: newId() };
  const current = { ...kind.generate?.(), ...given };
  const values = {
    ...place,
    name,
    type,
    metadata,
    secrets: sealSecrets(deps.ground.vault, place, { current }),
  };
  const row = await deps.ground.database
    .transaction(async (tx) => {
      await record(tx, {
        projectId,
        action: 'destination.created',
        targetId: place.id,
        details: { name, type },
      });
      return store.insertDestination(tx, values);
    })
    .catch((error: unknown) => {
      throw takenOr(error, name);
    });
  deps.known.forget(values);
  return row ?? absent(name);
}

const masks = ['name', 'metadata.*', 'secrets.*'];

async function update(
  deps: DestinationDeps,
  projectId: string,
  nameOrId: string,
  { updateMask, destination }: UpdateDestinationRequest,
): Promise<Row> {
  const values = readMask(updateMask, masks, destination, 'destination');
  const under = (root: string): [string, unknown][] =>
    [...values].flatMap(([path, value]) =>
      path.startsWith(`${root}.`) ? [[path.slice(root.length + 1), value]] : [],
    );
  const name = values.get('name') as string | undefined;
  if (name !== undefined) assertName(name);
  return changing(deps, projectId, nameOrId, async (tx, row) => {
    const stored = openSecrets(deps.ground.vault, row);
    const metadata = merged(row.metadata, under('metadata'));
    const current = merged(stored.current, under('secrets'));
    const faults = faultsOf(kindOf(deps, row.type), { metadata, secrets: current }, deps.context);
    if (faults.length > 0) throw refuse(faults);
    const secrets =
      under('secrets').length > 0 ? sealSecrets(deps.ground.vault, row, { current }) : row.secrets;
    const after = { ...row, name: name ?? row.name, metadata, secrets };
    const differs = beforeAndAfter(told(row), told(after));
    const details = { name: row.name, changed: [...values.keys()], ...differs };
    await record(tx, { projectId, action: 'destination.updated', targetId: row.id, details });
    const changed = await store.updateDestination(tx, after).catch((error: unknown) => {
      throw takenOr(error, name ?? row.name);
    });
    return changed ?? row;
  });
}

/** What it is, without what is secret in it. */
function told(row: Pick<Row, 'name' | 'type' | 'metadata'>): object {
  const members = Object.entries(withoutSecrets(row)).map(([name, value]) => [`metadata.${name}`, value]);
  return { name: row.name, ...(Object.fromEntries(members) as object) };
}

/** Null takes a member away. */
function merged(stored: object, changes: readonly [string, unknown][]): Record<string, unknown> {
  const members = new Map([...Object.entries(stored), ...changes].filter(([, value]) => value !== null));
  for (const [name, value] of changes) if (value === null) members.delete(name);
  return Object.fromEntries(members);
}

async function remove(
  deps: DestinationDeps,
  projectId: string,
  nameOrId: string,
  { cancelPending }: { cancelPending: boolean },
): Promise<void> {
  const change = async (tx: Queryable, row: Row): Promise<Row> => {
    const waiting = await store.deleteDestination(tx, projectId, row.id);
    if (waiting !== undefined && waiting > 0 && !cancelPending) {
      const detail = `${waiting} deliveries wait for the destination ${row.name}.`;
      throw problem('deliveries-waiting', { detail });
    }
    await forgetRoutesTo(tx, projectId, row.id);
    await endReplaysTo(tx, projectId, row.id);
    // What waits ends as canceled when its lane is looked at.
    await pause(tx, projectId, row.id, false);
    const details = { name: row.name, type: row.type, canceledDeliveries: waiting ?? 0 };
    await record(tx, { projectId, action: 'destination.deleted', targetId: row.id, details });
    return row;
  };
  await changing(deps, projectId, nameOrId, change, store.lockDestinationToDelete);
}

async function rotate(
  deps: DestinationDeps,
  projectId: string,
  nameOrId: string,
  overlapMs: number,
): Promise<{ row: Row; secrets: object }> {
  let current: object = {};
  const row = await changing(deps, projectId, nameOrId, async (tx, found) => {
    const kind = kindOf(deps, found.type);
    const made = kind.generate?.();
    if (!made) throw notRotatable(found, kind);
    const before = openSecrets(deps.ground.vault, found);
    current = { ...before.current, ...made };
    const now = Date.now();
    const until = new Date(now + overlapMs).toISOString();
    const good = formerIn(before, now);
    if (overlapMs > 0 && good.length >= mostFormer) throw tooManyFormer(good);
    const stored: StoredSecrets =
      overlapMs > 0 ? { current, former: [{ secrets: before.current, until }, ...good] } : { current };
    const details = { name: found.name, formerUntil: overlapMs > 0 ? until : undefined };
    await record(tx, { projectId, action: 'destination.rotated', targetId: found.id, details });
    const secrets = sealSecrets(deps.ground.vault, found, stored);
    return (await store.updateDestination(tx, { ...found, secrets })) ?? found;
  });
  // Whoever gets the new ones may verify by them at once: from now on every node signs with them.
  await sleep(knownForMs);
  return { row, secrets: current };
}

/** Each signs every message. */
const mostFormer = 10;

function tooManyFormer(former: readonly { until: string }[]): Problem {
  const [first] = former.map(({ until }) => until).toSorted();
  return problem('rotated-too-often', {
    detail: `${former.length} former secrets are still good; the first of them until ${first}.`,
  });
}

/** A change of one destination, after which this node does not serve what it remembers, and its lane is looked at. */
async function changing(
  { ground, known, announce }: DestinationDeps,
  projectId: string,
  nameOrId: string,
  change: (tx: Queryable, row: Row) => Promise<Row>,
  lock = store.lockDestination,
): Promise<Row> {
  let before: Row | undefined;
  const after = await ground.database.transaction(async (tx) => {
    before = (await lock(tx, keyOf(projectId, nameOrId))) ?? absent(nameOrId);
    return change(tx, before);
  });
  if (before) known.forget(before);
  known.forget(after);
  announce(after.id);
  return after;
}

/** For how long nothing succeeded there, in milliseconds; whoever enables or changes it gives it all of the time anew. */
export function failingForMs(row: Pick<Row, 'failing_since' | 'updated_at'>): number {
  const { failing_since: since, updated_at: changed } = row;
  return since ? Date.now() - Math.max(since.getTime(), changed.getTime()) : 0;
}

export function keyOf(projectId: string, nameOrId: string): store.DestinationKey {
  return isId(nameOrId) ? { projectId, id: nameOrId } : { projectId, name: nameOrId.replaceAll('\0', '') };
}

function keyOfRow({ project_id: projectId, id }: Row): { projectId: string; id: string } {
  return { projectId, id };
}

function kindOf({ kinds }: DestinationDeps, type: string): DestinationKind {
  const kind = kinds.get(type);
  if (kind) return kind;
  throw refuse([{ in: 'body', name: 'type', detail: `must be one of ${[...kinds.keys()].join(', ')}` }]);
}

/** An id in the place of a name would be taken for the id. */
function assertName(name: string): void {
  if (!isId(name)) return;
  throw refuse([{ in: 'body', name: 'name', detail: 'must not have the form of an id', value: name }]);
}

function takenOr(error: unknown, name: string): unknown {
  if (!isTaken(error)) return error;
  return problem('already-exists', { detail: `There is a destination ${name} already.`, cause: error });
}

function absent(nameOrId: string): never {
  throw problem('not-found', { detail: `There is no destination ${nameOrId}.` });
}

function notRotatable({ name, type }: Row, { secrets }: DestinationKind): Problem {
  const given = Object.keys(secrets.properties).map((member) => `\`secrets.${member}\``);
  if (given.length === 0)
    return problem('secrets-not-made-here', {
      detail: `There is nothing to rotate: a destination of type ${type} such as ${name} takes no secrets.`,
      remedy:
        'What it needs stands in its metadata: PATCH …/destinations/{destination} with the mask `metadata.<name>`.',
    });
  return problem('secrets-not-made-here', {
    detail: `The secrets of ${name} are given to it: a destination of type ${type} has none that are made here.`,
    remedy: `Change them: PATCH …/destinations/{destination} with the masks ${given.join(', ')}.`,
  });
}
