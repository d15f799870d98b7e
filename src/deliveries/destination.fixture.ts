import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import {
  good,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';

/** What the tests of one file share, and what each has of its own: a project with one destination of webhooks. */
export interface Destination {
  test: TestDatabase;
  /** Answers 204 at the beginning of each test. */
  receiver: Receiver;
  world: DeliveryWorld;
  /** The id of the destination. */
  to: string;
  /** Of the project, which is the only parameter. */
  rows(text: string): Promise<Record<string, unknown>[]>;
}

/** To be called where tests are declared: its members stand while one runs. */
export function aDestination(
  name: string,
  options: Parameters<typeof openDeliveryWorld>[1] = {},
): Readonly<Destination> {
  const at = {
    rows: (text) => at.world.rows(text, [at.world.projectId]),
  } as Destination;
  beforeAll(async () => {
    at.test = await createTestDatabase();
    at.receiver = await startReceiver();
  });
  afterAll(async () => {
    await at.receiver?.close();
    await at.test?.drop();
  });
  beforeEach(async () => {
    at.receiver.answer = good;
    at.receiver.received.length = 0;
    at.world = openDeliveryWorld(at.test, options);
    const made = { name, type: 'webhook', metadata: { url: at.receiver.url } } as const;
    at.to = (await at.world.deliveries.destinations.create(at.world.projectId, made)).id;
  });
  afterEach(() => at.world?.close());
  return at;
}
