import { momentOf } from '../kit/ids.ts';
import type { Failure } from '../providers/index.ts';
import type { Operation, OperationFailure, OperationLog, OperationRecord, WrittenRecord } from './schema.ts';
import type { LogRow, OperationRow, ReadDetails, RecordRow } from './store/read.ts';
import type { WrittenRow } from './store/written.ts';

export function presentOperation(row: OperationRow): Operation {
  const isWrite = row.action_type === 'write';
  const { retryOf, groupRef } = row.request;
  return {
    id: row.id,
    projectId: row.project_id,
    integrationId: row.integration_id,
    installationId: row.installation_id,
    ...(typeof groupRef === 'string' ? { groupRef } : {}),
    configId: row.config_id,
    actionType: row.action_type,
    status: row.status,
    ...(row.result === null ? {} : { result: row.result }),
    resource: row.resource,
    metadata: {
      objects: [row.resource],
      retry: {
        attempts: row.attempts,
        ...(row.last_attempt_at ? { lastAttempt: row.last_attempt_at.toISOString() } : {}),
        ...(row.next_attempt_at ? { nextAttempt: row.next_attempt_at.toISOString() } : {}),
      },
      ...(isWrite ? { successfulRecordIds: row.record_ids ?? [] } : {}),
      ...(row.action_type === 'read' ? readOf(row, row.request['read'] as ReadDetails) : {}),
    },
    errors: (row.errors ?? []).map((error) => Object.assign({ index: error.index }, presentFailure(error))),
    counts: {
      total: totalOf(row),
      succeeded: row.succeeded,
      failed: row.failed,
      unknown: row.unknown,
    },
    ...(row.unresolved ? { unresolved: true as const } : {}),
    ...(typeof retryOf === 'string' ? { retryOf } : {}),
    ...(row.retried_by === null ? {} : { retriedBy: row.retried_by }),
    createTime: momentOf(row.id),
    updateTime: row.updated_at.toISOString(),
  };
}

/** A read tells of its run once a second. What arrived before that was emitted, too. */
function totalOf({ total, succeeded, failed, unknown }: OperationRow): number {
  return Math.max(total, succeeded + failed + unknown);
}

function readOf(row: OperationRow, details: ReadDetails): Pick<Operation['metadata'], 'progress' | 'read'> {
  const { type, since, until, pages, processed, estimated } = details;
  return {
    progress: {
      installationId: row.installation_id,
      objectName: row.resource,
      operationId: row.id,
      recordsProcessed: processed,
      ...(estimated === undefined ? {} : { recordsEstimatedTotal: estimated }),
    },
    read: {
      type,
      ...(since === null ? {} : { since: new Date(since).toISOString() }),
      until: new Date(until).toISOString(),
      pages,
      emitted: totalOf(row),
      delivered: row.succeeded,
    },
  };
}

export function presentLog(row: LogRow): OperationLog {
  return { timestamp: row.created_at.toISOString(), severity: row.severity, message: row.message };
}

export function presentRecord({ slot, reference, outcome, resolution }: RecordRow): OperationRecord {
  const known = { index: slot, ...(reference === null ? {} : { reference }) };
  if (!outcome) return { ...known, errors: [], resolution: 'pending' };
  if (outcome.kind === 'applied') {
    const { recordId, created } = outcome;
    return {
      ...known,
      ...(recordId === undefined ? {} : { recordId }),
      ...(created === undefined ? {} : { created }),
      success: true,
      errors: [],
      resolution: 'applied',
      ...lookedUpBy(outcome),
    };
  }
  const errors = [presentFailure(outcome.failure)];
  if (!resolution) {
    return { ...known, success: false, errors, resolution: outcome.kind, ...lookedUpBy(outcome.failure) };
  }
  return {
    ...known,
    ...(resolution.recordId === undefined ? {} : { recordId: resolution.recordId }),
    success: resolution.resolution === 'applied',
    errors,
    resolution: resolution.resolution,
    resolvedBy: resolution.by,
    resolvedAt: new Date(resolution.at).toISOString(),
  };
}

export function presentWritten(row: RecordRow & WrittenRow): WrittenRecord {
  const { reference: _shown, ...content } = row.payload;
  return { ...presentRecord(row), content };
}

function lookedUpBy({ lookedUpBy: field }: { lookedUpBy?: string }): { lookedUpBy?: string } {
  return field === undefined ? {} : { lookedUpBy: field };
}

/** A provider's retry time was a wish for the attempt, and is over by the time anybody reads it. */
function presentFailure({
  category,
  retryable,
  message,
  provider,
  existingRecordId,
}: Failure): OperationFailure {
  return {
    category,
    retryable,
    message,
    ...(provider ? { provider } : {}),
    ...(existingRecordId === undefined ? {} : { existingRecordId }),
  };
}
