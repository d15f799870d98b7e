import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import { newId } from '../../kit/ids.ts';
import type { Delivered, DeliveryContext, OutgoingMessage, RecordKey } from '../kind.ts';
import { testMessage } from '../kind.testsuite.ts';
import { startFront, type Front } from './front.testsuite.ts';
import type { createPostgres } from './index.ts';
import type { PostgresMetadata } from './metadata.ts';

const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });
export const ground = { egress } as unknown as Ground;
const context: DeliveryContext = {
  ground,
  signal: new AbortController().signal,
  mayStillSend: () => true,
};

/** A customer's database behind a {@link Front}. */
export interface Warehouse {
  test: TestDatabase;
  front: Front;
  metadata: PostgresMetadata;
  password: string;
  send(kind: ReturnType<typeof createPostgres>, message: OutgoingMessage, over?: object): Promise<Delivered>;
  rows(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openWarehouse(): Promise<Warehouse> {
  const test = await createTestDatabase();
  const front = await startFront(test.url);
  const { username, password, pathname } = new URL(test.url);
  await test.database.raw('CREATE SCHEMA crm');
  const metadata = {
    url: `postgresql://${username}@127.0.0.1:${front.port}${pathname}?sslmode=disable`,
    schema: 'crm',
  };
  return {
    test,
    front,
    metadata,
    password: decodeURIComponent(password),
    send: (kind, message, over = {}) =>
      kind.deliver(
        message,
        {
          id: newId(),
          projectId: message.projectId,
          name: 'mine',
          metadata: { ...metadata, ...over },
          secrets: { password: decodeURIComponent(password), ...over },
        },
        context,
      ),
    rows: (text) => test.database.raw(text),
    close: async () => {
      await front.close();
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
