import { at, projectId, installationId, integrationId, operationId, made } from './api-story.ts';

/** Examples of reads, of what is delivered and of what providers were asked, by the name of their schema. */

const readRun = {
  operationId,
  status: 'success',
  recordsProcessed: 42,
  emitted: 42,
  delivered: 42,
  createTime: at,
};

const Destination = {
  id: '0192f0c1-000b-7000-8000-00000000000b',
  projectId,
  name: 'crm-records',
  type: 'webhook',
  metadata: { url: 'https://app.example.com/hooks/svc', headers: { 'x-tenant': 'mailmonkey' } },
  status: 'active',
  ...made,
};
const Delivery = {
  id: '0192f0c1-000c-7000-8000-00000000000c',
  projectId,
  destinationId: Destination.id,
  installationId,
  groupRef: 'acme',
  objectName: 'people',
  operationId,
  status: 'delivered',
  numRecords: 1,
  bytes: 812,
  attemptCount: 1,
  httpStatus: 204,
  createTime: at,
  lastAttemptTime: at,
};

const OperationExchange = {
  id: '0192f0c1-000d-7000-8000-00000000000d',
  time: at,
  attempt: 1,
  request: {
    method: 'POST',
    path: '/crm/v3/objects/contacts',
    body: '{"properties":{"email":"ada@example.com"}}',
    bytes: 42,
  },
  answer: {
    status: 201,
    headers: { 'content-type': 'application/json' },
    body: '{"id":"512","properties":{"email":"ada@example.com"}}',
    bytes: 53,
  },
  totalMs: 87,
};
const replayId = '0192f0c1-000e-7000-8000-00000000000e';
const slice = { destination: 'crm-records', object: 'people', from: at };

const delivered = {
  fields: { email: 'ada@example.com' },
  mappedFields: { given: 'Ada' },
  raw: { id: '512', properties: { email: 'ada@example.com', firstname: 'Ada' } },
};
const foundRecord = { id: '512', ...delivered };
const readingPeople = {
  provider: 'hubspot',
  read: {
    objects: {
      contacts: {
        objectName: 'contacts',
        selectedFields: { email: true },
        selectedFieldMappings: { given: 'firstname' },
      },
    },
  },
};

const Topic = { id: '0192f0c1-000d-7000-8000-00000000000d', name: 'alerts', projectId, ...made };
const NotificationRoute = {
  eventTypes: ['connection.error', 'read.schedule.paused', 'write.async.done'],
  destination: Destination.name,
};
const eventTopic = { eventType: 'connection.error', topicId: Topic.id };
const topicDestination = { topicId: Topic.id, destinationId: Destination.id };
const routeId = '0192f0c1-000e-7000-8000-00000000000e';

const ReadState = {
  status: 'idle',
  objectName: 'contacts',
  mappedObjectName: 'people',
  schedule: '*/30 * * * *',
  destination: 'crm-records',
  disabled: false,
  watermark: at,
  nextRunTime: at,
  failures: 0,
  lastRun: readRun,
  backfill: { ...readRun, recordsProcessed: 48_211, emitted: 48_211, delivered: 48_211 },
};

export const readingExamples = {
  OperationExchange,
  ReadRequest: { groupRef: 'acme', mode: 'async', sinceTimestamp: at },
  ReadAccepted: { operationId },
  PauseReadsRequest: { objects: ['contacts'], note: 'Moving to another account.' },
  ReadState,
  ProjectReadState: { installationId, integrationId, groupRef: 'acme', ...ReadState },
  BackfillProgress: {
    installationId,
    objectName: 'contacts',
    operationId,
    recordsProcessed: 12_000,
    recordsEstimatedTotal: 48_211,
    status: 'in_progress',
    expectedEndTime: at,
    createTime: at,
    updateTime: at,
  },
  SearchRequest: {
    objectName: 'people',
    fieldFilters: [{ fieldName: 'email', operator: 'eq', value: 'ada@example.com' }],
  },
  SearchResult: { results: [foundRecord], result: [foundRecord] },
  ReadPreviewRequest: { groupRef: 'acme', config: { content: readingPeople } },
  ReadPreview: {
    objectName: 'people',
    rawObjectName: 'contacts',
    recordId: foundRecord.id,
    result: [delivered],
    missingFields: [],
  },
  WritePreviewRequest: {
    groupRef: 'acme',
    config: {
      content: { provider: 'hubspot', write: { objects: { contacts: { objectName: 'contacts' } } } },
    },
    type: 'create',
    record: { email: 'ada@example.com' },
  },
  CreateDestinationRequest: { name: Destination.name, type: 'webhook', metadata: Destination.metadata },
  UpdateDestinationRequest: {
    updateMask: ['metadata.url'],
    destination: { metadata: { url: 'https://app.example.com/hooks/v2' } },
  },
  RotateDestinationRequest: { overlapHours: 24 },
  RetryDeliveryRequest: {},
  Destination,
  DestinationTest: { success: true, messageId: Delivery.id, status: 204, latencyMs: 38 },
  Delivery,
  DeliveryDetail: { ...Delivery, attempts: [{ time: at, status: 204, latencyMs: 38 }] },
  ReplayRequest: { filter: slice, dryRun: false },
  ReplayStarted: { replayId, count: 48_211, countIsComplete: true },
  Replay: {
    id: replayId,
    projectId,
    destinationId: Destination.id,
    filter: { ...slice, destination: Destination.id },
    status: 'running',
    progress: { queued: 12_000, delivered: 11_310, failed: 4, pending: 686, reachedTime: at },
    ...made,
  },
  ErasureRequest: { groupRef: 'acme' },
  Erasure: {
    id: '0192f0c1-000f-7000-8000-00000000000f',
    projectId,
    groupRef: 'acme',
    status: 'done',
    removed: { operations: 2_411, messages: 812, events: 9, proxyLogs: 120 },
    unfinished: 0,
    ...made,
  },
  Storage: {
    projectId,
    kinds: [
      { kind: 'operations', keepDays: 400, rows: 812, bytes: 1_204_880, isEstimate: false },
      { kind: 'messages', keepDays: 30, rows: 1_204_000, bytes: 911_730_400, isEstimate: true },
    ],
  },
  MessageResult: [foundRecord],
  TopicRequest: { name: Topic.name },
  Topic,
  CreateNotificationEventTopicRouteRequest: eventTopic,
  NotificationEventTopicRoute: { id: routeId, ...eventTopic, projectId, createTime: at },
  CreateTopicDestinationRouteRequest: topicDestination,
  TopicDestinationRoute: { id: routeId, ...topicDestination, projectId, createTime: at },
  SetNotificationsRequest: { routes: [NotificationRoute] },
  Notifications: { routes: [NotificationRoute], byTopics: [] },
};
