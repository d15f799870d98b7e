import type { Client } from 'openapi-fetch';
import { auditOf, type Audit } from './audit.ts';
import { createCalls, type Calls, type ConnectOptions } from './calls.ts';
import { connectionsOf, type Connections } from './connections.ts';
import { deliveriesOf, type Deliveries } from './deliveries.ts';
import type { BatchWritten, paths, RecordWritten } from './generated/api.ts';
import { installationsOf, type Installations } from './installations.ts';
import { integrationsOf, type Integrations } from './integrations.ts';
import { operationsOf, type Operations } from './operations.ts';
import { readsOf, type Reads } from './reads.ts';
import type { AnyIntegrations, DataMessage, IntegrationOf, IntegrationsShape, WrittenOf } from './shape.ts';
import { transferOf, type Transfer } from './transfer.ts';
import { verifyWebhook, type WebhookRequest } from './webhook.ts';
import {
  sendBatch,
  sendWrite,
  type BatchWrite,
  type Mode,
  type SingleWrite,
  type WriteAnswer,
  type WriteOptions,
} from './write.ts';

/**
 * A project of svc, as a builder's application sees it. With the types that `svc types` writes, `new Svc<Integrations>(…)` knows the
 * builder's own objects and fields.
 */
export class Svc<M extends IntegrationsShape = AnyIntegrations> {
  /** The id or the name of the project that it calls. */
  readonly project: string;
  readonly operations: Operations;
  readonly integrations: Integrations;
  readonly installations: Installations;
  readonly connections: Connections;
  readonly reads: Reads<M>;
  readonly deliveries: Deliveries;
  readonly transfer: Transfer;
  readonly audit: Audit;
  /** Everything else: each path of the API, with the same key, retries and types; `answerOf` throws what is no success. */
  readonly api: Client<paths>;
  readonly #calls: Calls;

  constructor(options: ConnectOptions) {
    const calls = createCalls(options);
    this.#calls = calls;
    this.project = options.project;
    this.api = calls.api;
    this.operations = operationsOf(calls);
    this.integrations = integrationsOf(calls);
    this.installations = installationsOf(calls);
    this.connections = connectionsOf(calls);
    this.reads = readsOf<M>(calls);
    this.deliveries = deliveriesOf(calls);
    this.transfer = transferOf(calls);
    this.audit = auditOf(calls);
  }

  /** Creates, updates, upserts or deletes a record. Throws a `SvcError` when it was not done, or not known to be. */
  async write<
    I extends IntegrationOf<M>,
    O extends WrittenOf<M, I>,
    T extends 'create' | 'update' | 'upsert' | 'delete',
    Answered extends Mode = 'synchronous',
    Dry extends boolean = false,
  >(
    request: SingleWrite<M, I, O, T, Answered, Dry>,
    options?: WriteOptions,
  ): Promise<WriteAnswer<RecordWritten, T extends 'delete' ? 'synchronous' : Answered, Dry>> {
    return (await sendWrite(this.#calls, request, options)) as never;
  }

  /** Creates, updates or upserts up to 100 records. What became of each stands in `results`, also when none was done. */
  async writeBatch<
    I extends IntegrationOf<M>,
    O extends WrittenOf<M, I>,
    T extends 'create' | 'update' | 'upsert',
    Answered extends Mode = 'synchronous',
    Dry extends boolean = false,
  >(
    request: BatchWrite<M, I, O, T, Answered, Dry>,
    options?: WriteOptions,
  ): Promise<WriteAnswer<BatchWritten, Answered, Dry>> {
    return (await sendBatch(this.#calls, request, options)) as never;
  }

  /** The message of a webhook, once its signature is checked; see the function of that name. */
  verifyWebhook<Message = DataMessage<M>>(
    request: WebhookRequest,
    secret: string | readonly string[],
  ): Promise<Message> {
    return verifyWebhook<Message>(request, secret);
  }
}
