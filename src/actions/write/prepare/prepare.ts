import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connections } from '../../../connections/index.ts';
import type { Installations, Target } from '../../../installations/index.ts';
import type { Ground } from '../../../kit/ground.ts';
import type { Intake, KeyClaim } from '../../../operations/index.ts';
import type { Principal, Projects } from '../../../projects/index.ts';
import { canonicalIdOf, type ObjectDescription } from '../../../providers/index.ts';
import { decideFor, refuseDead } from '../../target.ts';
import { identified } from './identity.ts';
import { planWrite, type WritePlan } from './plan.ts';
import type { WriteRequest } from '../schema.ts';
import { scopeOf } from './scope.ts';
import { isRepeatedUnseen, type KeptWrite, type PlannedRecord } from './stored.ts';
import { foldedKey } from './upsert.ts';

/** A write as it was asked for. */
export interface ReceivedWrite {
  principal: Principal;
  params: { projectIdOrName: string; integrationId: string; objectName: string };
  body: WriteRequest;
  isLarge?: true;
  /** What the log says of the request. */
  about?: Record<string, unknown>;
}

/** A write that may be accepted. */
export interface PreparedWrite {
  target: Target;
  plan: WritePlan;
  /** Of an upsert: what the provider says of the object. */
  description?: ObjectDescription | undefined;
}

interface Deciding {
  ground: Pick<Ground, 'limits'>;
  projects: Projects;
  installations: Installations;
  connections: Connections;
}

/** Decides on a write for the installation that it names. Throws the refusal. */
export async function prepareWrite(deps: Deciding, request: ReceivedWrite): Promise<PreparedWrite> {
  const { principal, body, isLarge } = request;
  const { projectIdOrName, integrationId, objectName } = request.params;
  const named = { projectIdOrName, integrationId, groupRef: body.groupRef };
  const prepared = await decideFor(deps, principal, named, (target) => {
    const { groupRef, connectionId, installationId } = target;
    request.about = { groupRef, connectionId, installationId };
    const planned = planWrite(body, scopeOf(target, objectName, deps.ground.limits));
    const refusal = 'refusal' in planned ? planned.refusal : undefined;
    // What no manifest names may be anything, a key put there by mistake, too.
    if (refusal?.code !== 'object-not-in-manifest') request.about['object'] = objectName;
    if ('refusal' in planned) {
      // What no other config would let pass is not decided again: it costs no look at the database.
      if (planned.isOfRequest) return planned;
      throw planned.refusal;
    }
    if (!body.dryRun) refuseDead(target);
    return { target, plan: planned.plan };
  });
  if ('refusal' in prepared) throw prepared.refusal;
  // Planning a large one took a while: others come before it is written down.
  if (isLarge) await nextTurn();
  const { target, plan } = prepared;
  return plan.kind === 'upsert'
    ? { target, ...(await identified(deps.connections, target, plan)) }
    : prepared;
}

/** By what a write came. */
export interface Origin {
  /** Told to the caller, and found in the log. */
  requestId: string;
  key?: KeyClaim | undefined;
  /** The operation that it is made in place of. */
  retryOf?: string | undefined;
}

/** What is accepted of a write. */
export function intakeOf({ target, plan }: PreparedWrite, { requestId, key, retryOf }: Origin): Intake {
  const { projectId, integrationId, installationId, configId, connectionId, provider, groupRef } = target;
  const { kind, mode, form, objectName, upsertBy, allOrNone, headers, onUnknown, records, deadlineSeconds } =
    plan;
  // In this order, by which nodes of every release name the batch that it gathers in.
  const request: KeptWrite = {
    type: kind,
    kind,
    mode,
    form,
    objectName,
    ...(upsertBy === undefined ? {} : { upsertBy }),
    allOrNone,
    headers,
    ...(onUnknown === undefined ? {} : { onUnknown }),
    provider,
    connectionId,
    groupRef,
    ...(retryOf === undefined ? {} : { retryOf }),
  };
  const intake: Intake = {
    projectId,
    integrationId,
    installationId,
    configId,
    laneId: connectionId,
    actionType: 'write',
    resource: objectName,
    request,
    requestId,
    records,
    deadlineSeconds,
    orderKeys: orderKeysOf({ installationId, provider, objectName, upsertBy }, records),
    key,
  };
  if (isRepeatedUnseen(kind)) intake.mayRepeat = true;
  return intake;
}

/** Where records stand, and by which field an upsert names them. */
interface RecordPlace {
  installationId: string;
  provider: string;
  objectName: string;
  upsertBy?: string | undefined;
}

/**
 * Writes to one record of an installation are done in the order in which they were accepted, where they name it alike: by its id, or
 * by its value in one field.
 */
export function orderKeysOf(
  { installationId, provider, objectName, upsertBy = '' }: RecordPlace,
  records: readonly Pick<PlannedRecord, 'id' | 'key'>[],
): (string | null)[] {
  const place = `${installationId}/${objectName.toLowerCase()}`;
  return records.map(({ id, key }) => {
    if (id !== undefined) return `${place}/${canonicalIdOf(provider, id)}`;
    return key === undefined ? null : `${place}/${upsertBy.toLowerCase()}=${foldedKey(key)}`;
  });
}
