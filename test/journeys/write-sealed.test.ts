import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/write-sealed', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let good: Buffer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    const [row] = await test.database.raw('SELECT credentials FROM connection WHERE id = $1', [
      customer.connectionId,
    ]);
    good = row!['credentials'] as Buffer;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const store = (credentials: Buffer) =>
    test.database.raw('UPDATE connection SET credentials = $2 WHERE id = $1', [
      customer.connectionId,
      credentials,
    ]);
  const shown = () =>
    platform.call<ProblemBody>(
      'GET',
      `/projects/default/connections/${customer.connectionId}?includeCreds=true`,
    );
  /** Makes the stored credentials unreadable, as to a node with other keys; returns when nodes have forgotten what they opened. */
  async function damage(): Promise<void> {
    const broken = Buffer.from(good);
    broken[broken.length - 1] = broken.at(-1)! ^ 1;
    await store(broken);
    await expect.poll(async () => (await shown()).body.code).toBe('credentials-unreadable');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
  }
  const made = async (email: string) =>
    (await effects(platform.hubspot, 'contacts')).filter(({ fields }) => fields['email'] === email);

  it('queued work waits, is no unknown outcome, and goes out once what is stored is mended', async () => {
    await damage();
    const record = { email: 'sealed@example.com' };
    const queued = await customer.write('contacts', { type: 'create', mode: 'asynchronous', record });
    expect(queued.status).toBe(200);
    await expect
      .poll(() => platform.said(), { timeout: 30_000 })
      .toContain('"problem":"credentials-unreadable"');
    expect(platform.said()).toContain(customer.connectionId);
    const waiting = await customer.operation(queued.body.operationId);
    expect(waiting).toMatchObject({ status: 'in_progress' });
    expect(await made(record.email)).toEqual([]);
    await store(good);
    const done = await customer.settled(queued.body.operationId, 60_000);
    expect(done).toMatchObject({ status: 'success', counts: { unknown: 0 } });
    expect(await made(record.email)).toHaveLength(1);
  }, 120_000);

  it('a caller who waits is told that nothing was sent, and nothing is', async () => {
    await damage();
    const record = { email: 'sealed-too@example.com' };
    const answer = await customer.write<ProblemBody>('contacts', { type: 'create', record });
    expect(answer).toMatchObject({ status: 500, body: { code: 'credentials-unreadable' } });
    expect(answer.body.detail).toContain('nothing was sent');
    const ended = await customer.settled(answer.body.operationId ?? '');
    expect(ended).toMatchObject({ status: 'failure', counts: { failed: 1, unknown: 0 } });
    expect(await made(record.email)).toEqual([]);
  }, 60_000);
});
