import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';
import { createKinds } from './kinds.ts';
import { hideSecrets } from './secrets.ts';

describe('what a failure tells', () => {
  it('repeats no secret, and loses no letters to one that is too short to be one', () => {
    expect(hideSecrets('denied for hunter2 at db', ['hunter2', 'd'])).toBe('denied for *** at db');
  });

  it('repeats no beginning of one, also where a character of it was cut', () => {
    const secret = 'a-long-schlüsselphrase';
    const cut = (bytes: number) => Buffer.from(`told: ${secret}`).subarray(0, bytes).toString();
    expect(cut(18)).toBe('told: a-long-schl\uFFFD');
    for (let bytes = 10; bytes < 28; bytes += 1) expect(hideSecrets(cut(bytes), [secret])).toBe('told: ***');
    expect(hideSecrets('cut \uFFFD', [secret])).toBe('cut \uFFFD');
  });
});

describe('deliveries/secrets', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let destinationId: string;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
    world = openDeliveryWorld(test, { timeoutMs: 5_000 });
    receiver = await startReceiver();
    const made = { name: 'mine', type: 'webhook' as const, metadata: { url: receiver.url } };
    destinationId = (await world.deliveries.destinations.create(world.projectId, made)).id;
  });
  afterAll(async () => {
    await world.close();
    await receiver.close();
    await test.drop();
  });

  const arrived = (count: number) =>
    eventually(
      () => receiver.received.length,
      (found) => found >= count,
    );

  it('ten former secrets may be good at once; an eleventh is refused, unless all of them are to end', async () => {
    const rotate = (overlapMs: number) =>
      world.deliveries.destinations.rotate(world.projectId, 'mine', overlapMs);
    const rotated = await Promise.allSettled(Array.from({ length: 11 }, () => rotate(60_000)));
    const refused = rotated.filter((one) => one.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'rotated-too-often' } }]);
    await world.work();
    await world.queue(destinationId, 1);
    await arrived(1);
    expect(String(receiver.received[0]!.headers['webhook-signature']).split(' ')).toHaveLength(11);
    await rotate(0);
    await world.queue(destinationId, 1);
    await arrived(2);
    expect(String(receiver.received[1]!.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it.each([
    [
      's3',
      { bucket: 'crm-records', region: 'eu-central-1' },
      { awsKeyId: 'AKIAIOSFODNN7EXAMPLE', awsSecretKey: 'wJalrXUtnFEMI' },
      'The secrets of unmade-s3 are given to it: a destination of type s3 has none that are made here.',
      /`secrets.awsKeyId`, `secrets.awsSecretKey`, `secrets.awsSessionToken`/,
    ],
    [
      'slack',
      { url: 'https://hooks.slack.com/services/T0/B0/x' },
      {},
      'There is nothing to rotate: a destination of type slack such as unmade-slack takes no secrets.',
      /stands in its metadata/,
    ],
  ] as const)(
    'are not rotated where they are not made: %s',
    async (type, metadata, secrets, detail, remedy) => {
      const all = openDeliveryWorld(test, { kinds: createKinds() });
      try {
        const { destinations } = all.deliveries;
        const name = `unmade-${type}`;
        await destinations.create(all.projectId, { name, type, metadata, secrets });
        const refusal: unknown = await destinations
          .rotate(all.projectId, name, 0)
          .catch((error: unknown) => error);
        expect(refusal).toMatchObject({ code: 'secrets-not-made-here', message: detail });
        expect(refusal).toMatchObject({ details: { remedy: expect.stringMatching(remedy) as string } });
      } finally {
        await all.close();
      }
    },
  );
});
