import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { startForwarder, type Forwarder } from '../../../test/forwarder.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import { newId } from '../../kit/ids.ts';
import type { Delivered, DeliveryContext, OutgoingMessage, RecordKey } from '../kind.ts';
import { testMessage } from '../kind.testsuite.ts';
import type { createPostgres } from './index.ts';
import type { PostgresMetadata } from './schema.ts';

const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });
export const ground = { egress } as unknown as Ground;
const context: DeliveryContext = {
  ground,
  signal: new AbortController().signal,
  mayStillSend: () => true,
};

/** A customer's database, and the wire to it. */
export interface Warehouse {
  test: TestDatabase;
  wire: Forwarder;
  metadata: PostgresMetadata;
  password: string;
  send(
    kind: ReturnType<typeof createPostgres>,
    message: OutgoingMessage,
    over?: object,
    egress?: Ground['egress'],
  ): Promise<Delivered>;
  rows: (text: string) => Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openWarehouse(): Promise<Warehouse> {
  const test = await createTestDatabase();
  const wire = await startForwarder(test.url);
  const { username, password, host, pathname } = new URL(wire.url);
  await test.database.raw('CREATE SCHEMA crm');
  const metadata = {
    url: `postgresql://${username}@${host}${pathname}?sslmode=disable`,
    schema: 'crm',
  };
  return {
    test,
    wire,
    metadata,
    password: decodeURIComponent(password),
    send: (kind, message, over = {}, dialer = egress) =>
      kind.deliver(
        message,
        {
          id: newId(),
          projectId: message.projectId,
          name: 'mine',
          metadata: { ...metadata, ...over },
          secrets: { password: decodeURIComponent(password), ...over },
        },
        { ...context, ground: { egress: dialer } as unknown as Ground },
      ),
    rows: (text) => test.database.raw(text),
    close: async () => {
      await wire.close();
      await test.drop();
    },
  };
}

export interface Entry {
  id?: string;
  version?: string;
  deleted?: boolean;
  mapped?: Record<string, unknown>;
  fields?: unknown;
  raw?: unknown;
  /** Instead of the rest: the entry as JSON text. */
  json?: string;
}

export const firstVersion = '2026-01-01T00:00:00.000Z';

/** A message of these entries. */
export function messageOf(entries: readonly Entry[], over: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const keys = entries.map(({ id = '1', version = firstVersion, deleted = false }): RecordKey => ({
    id,
    version,
    deleted,
  }));
  const texts = entries.map(
    ({ mapped = {}, fields = {}, raw = {}, json }) =>
      json ?? JSON.stringify({ fields, mappedFields: mapped, raw }),
  );
  return testMessage([], {
    keys,
    records: keys.length,
    result: async () => Buffer.from(`[${texts.join(',')}]`),
    ...over,
  });
}
