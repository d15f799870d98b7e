import type { Ground } from '../kit/ground.ts';
import type { Kind, Marked, Ran, WorkContext } from '../lanes/index.ts';
import type { CheckContext, Delivered, DestinationKind, OpenDestination } from './kind.ts';
import type { KnownDestinations } from './known.ts';
import { createLines, type Line, type Lines } from './lines.ts';
import { countDeliveries } from './metrics.ts';
import { outgoingOf, type MappedFields } from './outgoing.ts';
import { formerIn, openSecretsOnce } from './secrets.ts';
import { canceled, disablingEnds, forgotten, postponed, settle, type DeliveryEnd } from './settle.ts';
import { failingForMs } from './destinations.ts';
import type { DestinationRow } from './store/destinations.ts';
import { unfit } from './unfit.ts';
import { loadMessages, type MessageRow } from './store/load.ts';
import { recordDeliveries } from './store/record.ts';

/** A marked row with its message, while that is kept. */
export interface DeliveryItem extends Marked {
  message: MessageRow | undefined;
}

export interface DeliveryDeps {
  ground: Ground;
  known: Pick<KnownDestinations, 'find'>;
  kinds: ReadonlyMap<string, DestinationKind>;
  context: CheckContext;
  mappedFields: MappedFields;
  /** Called after the commit, for each destination that is to be disabled. */
  disable(end: Pick<DeliveryEnd, 'projectId' | 'destinationId' | 'disable'>): void;
}

/** The work of the lanes of destinations. A delivery that was started elsewhere is sent again, under the same id. */
export function deliveryKind(deps: DeliveryDeps): Kind<DeliveryItem, DeliveryEnd> {
  const lines = createLines();
  return {
    name: 'delivery',
    async load(db, marked) {
      const messages = await loadMessages(db, marked);
      return marked.map((item, at) => Object.assign({ message: messages.get(at) }, item));
    },
    run: (item, context) => deliver(deps, lines, item, context),
    rescued: 'again',
    unsent: postponed,
    record: recordDeliveries,
    recorded(ends) {
      countDeliveries(deps.ground.metrics, ends);
      for (const { projectId, messageId: id, outcome, groupRef } of ends)
        if (outcome)
          deps.ground.database.tell(projectId, { type: 'delivery', id, status: outcome.status, groupRef });
      for (const end of disablingEnds(ends)) deps.disable(end);
    },
    less: withoutWords,
    about: (of) => ({
      projectId: of.projectId,
      deliveryId: 'messageId' in of ? of.messageId : of.ref,
      destinationId: 'destinationId' in of ? of.destinationId : of.laneId,
    }),
  };
}

const awayMs = 1_000;
const strangeMs = 60_000;

async function deliver(
  deps: DeliveryDeps,
  lines: Lines,
  item: DeliveryItem,
  context: WorkContext,
): Promise<Ran<DeliveryEnd>> {
  const { projectId, laneId, message, attempt } = item;
  if (!message) return forgotten(item);
  if (message.replay_canceled) return canceled(item, 'The replay was canceled.');
  const row = await deps.known.find(projectId, laneId).catch(() => 'unknown' as const);
  // With the database away, or during an upgrade that brings a new type, another time.
  if (row === 'unknown') return { end: postponed(item, awayMs) };
  if (!row) return canceled(item, 'The destination was deleted.');
  if (item.ref < row.kept_from || message.body.length === 0)
    return canceled(item, 'The project does not keep the message any longer (`keepDays.messages`).');
  if (!deps.kinds.has(row.type)) return { end: postponed(item, strangeMs) };
  const kind = kindOf(deps, row);
  const outgoing = outgoingOf(deps, { id: item.ref, projectId, attempt }, message);
  const line: Line | undefined = kind.connectsEach && (await lines.enter(laneId, context.signal));
  const startedAt = new Date();
  const began = performance.now();
  const delivered = await guarded(deps, item, async () =>
    kind.recordsOnly && outgoing.notificationType
      ? misplaced(row)
      : (unfit(deps, kind, row) ??
        kind.deliver(outgoing, openDestination(deps, row), {
          ground: deps.ground,
          signal: context.signal,
          mayStillSend: () => context.mayStillSend(),
        })),
  );
  const timing = { startedAt, latencyMs: performance.now() - began };
  line?.leave(timing.latencyMs);
  const ran = settle(item, delivered, timing, { failingForMs: failingForMs(row), changedAt: row.updated_at });
  tellFailure(deps, ran.end, row);
  const groupRef = message.group_ref ?? undefined;
  const empties = row.keeps_delivered ? {} : { empties: true };
  return { ...ran, end: { ...ran.end, groupRef, ...empties } };
}

/**
 * A line where a destination begins to fail, and one for each delivery that is not tried again. What was said of it may be its
 * customer's, and stands in the log of the delivery alone.
 */
function tellFailure(
  { ground }: DeliveryDeps,
  { projectId, messageId, destinationId, done, outcome }: DeliveryEnd,
  { name, failing_since: failingSince }: DestinationRow,
): void {
  if (outcome?.error === undefined) return;
  const { httpStatus } = outcome;
  const about = { projectId, destinationId, destination: name, deliveryId: messageId, httpStatus };
  if (done) ground.log.warn(about, 'a delivery failed, and is not tried again');
  else if (!failingSince) ground.log.info(about, 'a delivery failed; it is tried again');
}

/** No route leads there; a replay can. */
function misplaced({ name, type }: DestinationRow): Delivered {
  const error = `The destination ${name} is of type ${type}, which takes records only: this message tells of an event. Send it to another destination.`;
  return { kind: 'failed', error, final: true };
}

export function kindOf({ kinds }: Pick<DeliveryDeps, 'kinds'>, { type }: DestinationRow): DestinationKind {
  const kind = kinds.get(type);
  if (!kind) throw new Error(`no kind of destination of this node is called ${type}`);
  return kind;
}

/** The destination with its secrets opened. */
export function openDestination(
  { ground }: Pick<DeliveryDeps, 'ground'>,
  row: DestinationRow,
): OpenDestination {
  const secrets = openSecretsOnce(ground.vault, row);
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    metadata: row.metadata,
    secrets: secrets.current,
    formerSecrets: formerIn(secrets, Date.now()).map((former) => former.secrets),
  };
}

/** A fault of ours must not keep the others of the lane waiting for a rescue. */
async function guarded(
  { ground }: DeliveryDeps,
  { projectId, ref, laneId }: Marked,
  work: () => Promise<Delivered>,
): Promise<Delivered> {
  try {
    return await work();
  } catch (error) {
    ground.log.error(
      { err: error, projectId, deliveryId: ref, destinationId: laneId },
      'a delivery broke off',
    );
    return {
      kind: 'failed',
      error: 'The delivery broke off for a fault of this service, which its log has. It is tried again.',
    };
  }
}

/** For a database that refuses a value of what was said. */
function withoutWords(end: DeliveryEnd): DeliveryEnd | undefined {
  const { outcome } = end;
  if (outcome?.entry === undefined) return undefined;
  const error = outcome.error === undefined ? undefined : 'It failed in words that could not be stored.';
  return { ...end, outcome: { ...outcome, error, entry: undefined } };
}
