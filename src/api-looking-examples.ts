import { connectionId, installationId, integrationId, operationId } from './api-story.ts';

const ended = {
  succeeded: [41, 12],
  partlyDone: [0, 0],
  failed: [1, 0],
  p50Ms: [210, 250],
  p95Ms: [841, 1000],
};

/** Examples of what somebody looks at, by the name of their schema. */
export const lookingExamples = {
  Changes: { changes: [{ type: 'operation', id: operationId, status: 'success' }], more: [] },
  SearchHits: {
    hits: [
      { type: 'group', id: 'acme', name: 'Acme', groupRef: 'acme' },
      {
        type: 'operation',
        id: operationId,
        name: 'contacts',
        groupRef: 'acme',
        integrationId,
        installationId,
        operationId,
      },
    ],
  },
  Overview: {
    attention: [
      { kind: 'badConnections', count: 2, filter: { status: 'bad_credentials' } },
      { kind: 'deadLetters', count: 5, filter: { status: 'failed' } },
    ],
    oldestQueuedWrite: { operationId, seconds: 4.2, count: 12, countIsComplete: true },
    closedBudgets: [
      {
        connectionId,
        groupRef: 'acme',
        provider: 'hubspot',
        lockedOut: false,
        closedUntil: '2026-01-15T09:30:08.000Z',
      },
    ],
    activity: {
      stepSeconds: 600,
      times: [1_768_469_400, 1_768_470_000],
      writes: { ...ended, partlyDone: [2, 0] },
      reads: {
        succeeded: [1, 0],
        partlyDone: [0, 0],
        failed: [0, 0],
        p50Ms: [4757, null],
        p95Ms: [4757, null],
      },
      deliveries: ended,
      failures: { validation: 1 },
    },
  },
};
