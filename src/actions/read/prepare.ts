import type { Connections } from '../../connections/index.ts';
import {
  destinationFault,
  type Deliveries,
  type Envelope,
  type FoundDestination,
} from '../../deliveries/index.ts';
import {
  effectiveReadObjectNamed,
  senderOf,
  type EffectiveReadObject,
  type Installations,
  type Sender,
  type Target,
} from '../../installations/index.ts';
import type { Ground } from '../../kit/ground.ts';
import { timeOf } from '../../kit/ids.ts';
import type { Operations, Place } from '../../operations/index.ts';
import type { Projects } from '../../projects/index.ts';
import { connectorOf, fieldNamed, type Failure, type ObjectDescription } from '../../providers/index.ts';
import { askable, type Askable } from './askable.ts';
import { associatedObjects } from './associations.ts';
import { failureBeforeSend } from '../send.ts';
import type { Associating } from './fetch-associations.ts';
import { shapeOf, type Shape } from './shape.ts';
import type { Run, RunItem, RunType } from './store/runs.ts';

export interface ReadDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
  operations: Operations;
  deliveries: Deliveries;
  settings: ReadSettings;
}

export interface ReadSettings {
  /** Scheduled runs that fail one after the other until the schedule is paused. */
  failuresUntilPause: number;
  /** From so many records on a provider's way for many is taken. */
  bulkFrom: number;
}

/** All that a run needs to ask for pages and to make messages of them. */
export interface Prepared extends Askable {
  run: Run;
  target: Target;
  asked: EffectiveReadObject;
  /** Missing where no associations are asked for. */
  associating: Associating | undefined;
  shape: Shape;
  destination: FoundDestination;
  envelope: Envelope;
}

/** Why a run does not go on: for now, or for good. */
export type Held =
  | { waitMs: number; rests?: boolean; because?: { key: string; msg: string } }
  | { failure: Failure };

/** Feeds follow a change of their installation within about a second. */
const followedMs = 1_000;
/** A builder who mends what a run waits for sees it go on after this long. */
const recheckMs = 15_000;
/** Whoever lets reads go on wakes them; this is for one that came to rest in that moment. */
const restMs = 5 * 60_000;

/** Finds all that the run needs, or says why it does not go on. */
export async function prepare(
  deps: ReadDeps,
  { projectId, laneId, run }: RunItem & { run: Run },
): Promise<{ prepared: Prepared } | { held: Held; place: Place }> {
  const { installationId } = run;
  const target = await deps.installations.refreshTarget(projectId, { installationId });
  if (!target) return { place: {}, held: ended('the installation was deleted') };
  const asked = effectiveReadObjectNamed(target, run.objectName);
  const isMoved = laneId !== target.connectionId;
  const place = { ...placeIn(target, run), connectionId: laneId };
  if (!asked) return { place, held: ended(`${run.objectName} is not configured to be read any more`) };
  if (isMoved && (run.isDropped || run.type === 'triggered')) return { place, held: ended(movedWords(run)) };
  if (run.isDropped) return { place, held: ended(droppedWords(run)) };
  // Its feed still is of this connection: it follows, or the installation comes back.
  if (isMoved) return { place, held: { waitMs: followedMs, rests: true } };
  if (rests(run, asked)) return { place, held: { waitMs: restMs, rests: true } };
  const destination = await destinationOf(deps.deliveries, projectId, asked);
  if ('held' in destination) return { place, ...destination };
  const ready = await readyFor(deps, target, run, asked);
  if ('held' in ready) return { place, ...ready };
  const associating = associatingOf(target, asked);
  if (run.type === 'associations' && !associating)
    return { place, held: ended(`associations of ${run.objectName} are not asked for any more`) };
  const sender = await senderOf(deps.ground.database, target);
  if (!sender) return { place, held: ended('the installation was deleted') };
  const shape = shapeOf(asked, ready.object);
  const envelope = envelopeOf(target, asked, run, sender);
  return {
    prepared: { run, target, asked, ...ready, associating, shape, destination: destination.found, envelope },
  };
}

export function placeIn({ provider, connectionId, groupRef }: Target, { requestId }: Run): Place {
  return { provider, connectionId, groupRef, ...(requestId === null ? {} : { requestId }) };
}

const ended = (message: string): Held => ({ failure: { category: 'notFound', retryable: false, message } });

/** A run reads the account of the connection in whose lane it is. */
function movedWords({ type }: Run): string {
  const next =
    type === 'triggered' ? 'ask for it again' : 'its account is read as that of a new installation';
  return `the installation uses another connection now; ${next}`;
}

/** Its feed was made anew: without it, or for another connection, the run had no place any more. */
function droppedWords({ objectName, type }: Run): string {
  return type === 'associations'
    ? `associations of ${objectName} were not asked for meanwhile, or the installation had another connection; where they are asked for, they are compared from their beginning`
    : `${objectName} was not configured to be read meanwhile, or the installation had another connection; it is read as a new object`;
}

/** A read that somebody asked for goes on; what comes by itself rests. */
function rests({ type, isPaused }: Run, { disabled, declared }: EffectiveReadObject): boolean {
  return type !== 'triggered' && (isPaused || disabled || !declared);
}

async function destinationOf(
  deliveries: Deliveries,
  projectId: string,
  { destination, objectName }: EffectiveReadObject,
): Promise<{ found: FoundDestination } | { held: Held }> {
  const waiting = (msg: string): { held: Held } => ({
    held: { waitMs: recheckMs, rests: true, because: { key: 'destination', msg } },
  });
  if (destination === undefined)
    return waiting(`${objectName} has no destination; name one in the config or the manifest`);
  const found = await deliveries.findDestination(projectId, destination);
  const fault = destinationFault(found, destination);
  return found && fault === undefined ? { found } : waiting(`${fault}; the read waits until there is one`);
}

/** How the associations that are asked for are read; undefined where none are. */
export function associatingOf(
  target: Pick<Target, 'provider' | 'manifest'>,
  asked: EffectiveReadObject,
): Associating | undefined {
  const ability = connectorOf(target.provider)?.readAssociations;
  if (!ability || !asked.associations) return undefined;
  const isCompared = asked.associations.schedule !== undefined;
  return { ability, objects: associatedObjects(target, asked), isCompared };
}

async function readyFor(
  deps: ReadDeps,
  target: Target,
  { operationId, requestId, objectName, type, failures }: Run,
  asked: EffectiveReadObject,
): Promise<Askable | { held: Held }> {
  try {
    const { projectId, groupRef } = target;
    const of = { projectId, operationId, groupRef, attempt: failures + 1, withGoodAnswers: false };
    const { exchangeLog } = deps.operations;
    const found = await askable(deps, target, objectName, priorityOf[type], {
      caller: { groupRef, operationId, ...(requestId === null ? {} : { requestId }) },
      watch: (client) => exchangeLog.watch(client, of, 'failed'),
      hasAll: (object) => hasAll(asked, object),
      sinceMs: Date.now() - timeOf(operationId),
    });
    if ('not' in found) return { held: found.not };
    return { ...found.ready, client: exchangeLog.watch(found.ready.client, of) };
  } catch (error) {
    return { held: { failure: failureBeforeSend(error) } };
  }
}

function hasAll(asked: EffectiveReadObject, object: ObjectDescription): boolean {
  const filters = [...asked.filters, ...(asked.backfill?.filters ?? [])];
  return (
    shapeOf(asked, object).missing.length === 0 &&
    filters.every(({ fieldName }) => fieldNamed(object, fieldName) !== undefined)
  );
}

const priorityOf = {
  triggered: 'read',
  scheduled: 'read',
  backfill: 'backfill',
  associations: 'backfill',
} as const satisfies Record<RunType, string>;

function envelopeOf(
  { projectId, provider, groupRef, installationId }: Target,
  { objectName, deliveredAs }: EffectiveReadObject,
  { operationId, until, type }: Run,
  { groupName, consumerRef, consumerName, workspace, updatedAt }: Sender,
): Envelope {
  return {
    action: 'read',
    projectId,
    provider,
    groupRef,
    groupName,
    consumerRef,
    consumerName,
    installationId,
    installationUpdateTime: updatedAt.toISOString(),
    objectName: deliveredAs,
    rawObjectName: objectName,
    ...(workspace === null ? {} : { workspace }),
    operationId,
    operationTime: new Date(until).toISOString(),
    // Who receives it sees what a schedule brings; only the operation tells of the rhythm.
    readType: type === 'associations' ? 'scheduled' : type,
  };
}
