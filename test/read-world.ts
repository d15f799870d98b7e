import {
  deploy,
  install,
  simulator,
  type Customer,
  type OperationBody,
  type ProblemBody,
} from './customer.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startPlatform, type Answer, type Platform } from './platform.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToName: people
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields:
            - fieldName: email
            - { fieldName: firstname, mapToName: given }
          optionalFields:
            - { mapToName: "$['at']['town']" }
          deletedRecords: { enabled: always }
        - objectName: companies
          destination: inbox
          optionalFieldsAuto: all
          backfill: { defaultPeriod: { fullHistory: true } }
        - objectName: deals
          destination: inbox
          enabled: always
          schedule: '0 3 * * *'
          requiredFields: [{ fieldName: dealname }]
        - objectName: tickets
          destination: nowhere
          optionalFieldsAuto: all
  - name: hubspot-links
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields: [{ fieldName: lastname }]
          backfill: { defaultPeriod: { fullHistory: true } }
          associations: { objects: [companies, deals], schedule: '0 */6 * * *' }
        - objectName: companies
          mapToName: accounts
          destination: inbox
          requiredFields: [{ fieldName: name }]
  - name: salesforce-crm
    provider: salesforce
    read:
      objects:
        - objectName: Contact
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields: [{ fieldName: LastName }]
          backfill: { defaultPeriod: { fullHistory: true } }
          deletedRecords: { enabled: always }
`;

/** How an object is read, as far as tests look. */
export interface ReadStateBody {
  objectName: string;
  schedule?: string;
  watermark: string;
  nextRunTime?: string;
  failures: number;
  paused?: { reason: string; note?: string };
  lastRun?: { operationId: string; status: string; emitted: number; delivered: number };
  backfill?: { operationId: string; status: string; emitted: number; delivered: number };
  associations?: {
    objects: string[];
    schedule?: string;
    nextRunTime?: string;
    paused?: { reason: string };
    failures?: number;
    lastRun?: { operationId: string; status: string; recordsProcessed: number; emitted: number };
  };
}
export type ReadOperation = OperationBody & {
  metadata: {
    progress: { recordsProcessed: number; recordsEstimatedTotal?: number };
    read: { type: string; since?: string; until: string; pages: number; emitted: number; delivered: number };
  };
};

function must({ status, text }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`${status}: ${text}`);
}

const env = { SVC_READ_FAILURES_UNTIL_PAUSE: '2' };

/** Two nodes that read the simulated providers into a receiver. All installations share one account, and its limits. */
export class ReadWorld {
  readonly #installed: Customer[] = [];
  #group = 0;
  /** How far the clocks are ahead, in milliseconds. */
  #ahead = 0;

  readonly test: TestDatabase;
  readonly first: Platform;
  readonly second: Platform;
  readonly receiver: Receiver;
  /** Of the destination `inbox`. */
  readonly secret: string;

  private constructor(test: TestDatabase, nodes: [Platform, Platform], receiver: Receiver, secret: string) {
    this.test = test;
    [this.first, this.second] = nodes;
    this.receiver = receiver;
    this.secret = secret;
  }

  static async open(): Promise<ReadWorld> {
    const test = await createTestDatabase();
    const first = await startPlatform({ databaseUrl: test.url, env });
    await deploy(first, manifest);
    // Clocks are moved by days here; that tokens end meanwhile is for other tests.
    await simulator(first.hubspot, 'POST', '/settings', { accessLifeMs: 400 * 24 * 3_600_000 });
    const second = await startPlatform({ databaseUrl: test.url, beside: first, env });
    const receiver = await startReceiver();
    const inbox = { name: 'inbox', type: 'webhook', metadata: { url: receiver.url } };
    const made = await first.call('POST', '/projects/default/destinations', inbox);
    must(made, 201);
    const shown = await first.call<{ secrets: { webhookSigningKey: string } }>(
      'GET',
      '/projects/default/destinations/inbox?includeSecrets=true',
    );
    return new ReadWorld(test, [first, second], receiver, shown.body.secrets.webhookSigningKey);
  }

  async close(): Promise<void> {
    await this.second.stop();
    await this.first.stop();
    await this.receiver.close();
    await this.test.drop();
  }

  async customer(
    content: Record<string, unknown>,
    integration: 'hubspot-crm' | 'hubspot-links' | 'salesforce-crm' = 'hubspot-crm',
    options: { skipSampling?: boolean } = {},
  ): Promise<Customer> {
    const made = await install(this.first, integration, `reads-${++this.#group}`, content, options);
    this.#installed.push(made);
    return made;
  }

  /** An installation that reads contacts. */
  contacts(more: Record<string, unknown> = {}): Promise<Customer> {
    return this.customer({ read: { objects: { contacts: { objectName: 'contacts', ...more } } } });
  }

  async uninstall(): Promise<void> {
    for (const at of this.#installed.splice(0)) must(await this.first.call('DELETE', this.place(at)), 204);
  }

  place({ installationId, integration }: Customer): string {
    return `/projects/default/integrations/${integration}/installations/${installationId}`;
  }

  async stateOf(at: Customer, object: string): Promise<ReadStateBody> {
    const { body } = await this.first.call<ReadStateBody[]>('GET', `${this.place(at)}/reads`);
    return body.find(({ objectName }) => objectName === object)!;
  }

  async logsOf(id: string): Promise<string[]> {
    const path = `/projects/default/operations/${id}/logs`;
    const { body } = await this.first.call<{ message: { msg: string } }[]>('GET', path);
    return body.map(({ message }) => message.msg);
  }

  /** By the platform's clock, and the providers'. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  async pass(minutes: number): Promise<void> {
    this.#ahead += minutes * 60_000;
    // The providers first: a run must not begin before their indexes know what was changed.
    for (const url of [this.first.hubspot, this.first.salesforce])
      await simulator(url, 'POST', '/clock', { advanceMs: minutes * 60_000 });
    await this.test.database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 minute'`, [minutes]);
  }

  async until<Value>(what: string, look: () => Promise<Value | undefined | false>): Promise<Value> {
    const giveUpAt = Date.now() + 20_000;
    for (;;) {
      const found = await look();
      if (found) return found;
      if (Date.now() > giveUpAt)
        throw new Error(`${what}: not within 20 s; ${this.first.said()} ${this.second.said()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Lets the next tick of the object come; answers how it stood before. */
  async toTick(at: Customer, object: string): Promise<ReadStateBody> {
    const before = await this.stateOf(at, object);
    await this.pass((Date.parse(before.nextRunTime!) - this.now()) / 60_000 + 0.05);
    return before;
  }

  /** Lets the next tick come, and waits for the end of its run and for its deliveries. */
  async tick(at: Customer, object: string): Promise<ReadOperation> {
    await this.until('the end of the run before', async () => {
      const { lastRun } = await this.stateOf(at, object);
      return lastRun?.status !== 'in_progress';
    });
    const before = await this.toTick(at, object);
    const run = await this.until(`a run of ${object}`, async () => {
      const { lastRun } = await this.stateOf(at, object);
      return lastRun && lastRun.operationId !== before.lastRun?.operationId && lastRun.operationId;
    });
    return this.delivered(at, run);
  }

  /** The run once it and all its deliveries have ended. */
  delivered(at: Customer, id: string): Promise<ReadOperation> {
    return this.until('the deliveries', async () => {
      const found = (await at.operation(id)) as ReadOperation;
      const { emitted, delivered } = found.metadata.read;
      return found.status !== 'in_progress' && emitted === delivered && found;
    });
  }

  /** The history of an object, once it and all its deliveries have ended. */
  async history(at: Customer, object: string): Promise<ReadOperation> {
    const id = await this.until(
      'the backfill',
      async () => (await this.stateOf(at, object)).backfill?.operationId,
    );
    return this.delivered(at, id);
  }

  /** A record of HubSpot changes, now or some time ago. */
  change(
    object: string,
    id: string | undefined,
    properties: Record<string, string>,
    agoMs = 0,
  ): Promise<{ ids: string[] }> {
    const updatedAt = new Date(this.now() - agoMs).toISOString();
    const records = [{ ...(id === undefined ? {} : { id }), properties, updatedAt }];
    return simulator(this.first.hubspot, 'POST', '/data', { object, records });
  }

  read(
    at: Customer,
    object: string,
    body: Record<string, unknown> = {},
  ): Promise<Answer<{ operationId: string } & ProblemBody>> {
    const path = `/read/v1/projects/default/integrations/${at.integration}/objects/${object}`;
    return this.first.call('POST', path, { groupRef: at.groupRef, mode: 'async', ...body });
  }
}
