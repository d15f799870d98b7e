import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../src/deliveries/harness.fixture.ts';
import {
  verify,
  openDeliveryPlatform,
  type DeliveryPlatform,
  type Destination,
  type Page,
} from '../delivery-platform.ts';

describe('test/journeys/deliveries', () => {
  let at: DeliveryPlatform;
  beforeAll(async () => {
    at = await openDeliveryPlatform();
  });
  afterAll(() => at?.close());

  it('two hundred messages arrive over two nodes, each verified by its signature', async () => {
    const receiver = await at.receive();
    const made = await at.create('busy', receiver.url);
    const key = await at.keyOf(made);
    const ids = await at.queue(made.id, 200);
    const delivered = await at.withStatus(made, 'delivered', 200);
    expect(delivered.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(new Set(receiver.ids())).toEqual(new Set(ids));
    for (const received of receiver.received) verify(key, received);
    expect(receiver.received[0]!.body).toContain('{"amount":1.50}');
  });

  it('a receiver that is killed gets everything when it is back, under the same ids', async () => {
    const receiver = await at.receive();
    const made = await at.create('killed', receiver.url);
    const port = Number(new URL(receiver.url).port);
    await receiver.close();
    const ids = await at.queue(made.id, 20);
    const pending = await eventually(
      () => at.list('destination=killed&status=pending'),
      ({ results }) => results.some(({ attemptCount }) => attemptCount > 0),
    );
    expect(pending.results.find(({ attemptCount }) => attemptCount > 0)?.error).toContain('refused');
    const back = await at.receive(port);
    await at.hurry();
    await at.withStatus(made, 'delivered', 20);
    expect(new Set(back.ids())).toEqual(new Set(ids));
  });

  it('a node that is killed in the middle loses nothing, and repeats keep their ids and bodies', async () => {
    const receiver = await at.receive();
    const made = await at.create('survives', receiver.url);
    receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 150);
    const ids = await at.queue(made.id, 120);
    await eventually(
      () => receiver.received.length,
      (count) => count > 20,
    );
    await at.two.restart('SIGKILL');
    await at.withStatus(made, 'delivered', 120);
    expect(new Set(receiver.ids())).toEqual(new Set(ids));
    const bodies = Map.groupBy(receiver.received, ({ headers }) => String(headers['webhook-id']));
    for (const same of bodies.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  });

  it('a rotation under load leaves no message that neither key verifies', async () => {
    const receiver = await at.receive();
    const made = await at.create('rotated', receiver.url);
    const before = await at.keyOf(made);
    await at.queue(made.id, 60);
    const rotated = await at.must(at.call<Destination>('POST', '/destinations/rotated:rotate', {}));
    const after = rotated.secrets!.webhookSigningKey;
    expect(after).not.toBe(before);
    const answered = receiver.received.length;
    await at.queue(made.id, 60);
    await at.withStatus(made, 'delivered', 120);
    for (const received of receiver.received) verify(before, received);
    expect(receiver.received.length).toBeGreaterThan(answered);
    for (const received of receiver.received.slice(answered)) verify(after, received);
    await at.must(at.call('POST', '/destinations/rotated:rotate', { overlapHours: 0 }));
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const [late] = await at.queue(made.id, 1);
    await at.withStatus(made, 'delivered', 121);
    const received = receiver.received.find(({ headers }) => headers['webhook-id'] === late)!;
    expect(() => verify(after, received)).toThrow(/signature/i);
    verify(await at.keyOf(made), received);
  });

  it('rotations one after the other leave each secret good until its time is over, and the newest at once', async () => {
    const receiver = await at.receive();
    const made = await at.create('rotated-often', receiver.url);
    const keys = [{ key: await at.keyOf(made), from: 0, until: Infinity }];
    const over = new AbortController();
    const load = (async () => {
      while (!over.signal.aborted) {
        await at.queue(made.id, 5);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    // Six seconds: each is good while the next two are made.
    const overlapHours = 6 / 3_600;
    for (let n = 0; n < 4; n += 1) {
      const asked = Date.now();
      const rotated = await at.must(
        at.call<Destination>('POST', '/destinations/rotated-often:rotate', { overlapHours }),
      );
      keys.at(-1)!.until = asked + overlapHours * 3_600_000;
      keys.push({ key: rotated.secrets!.webhookSigningKey, from: Date.now(), until: Infinity });
    }
    // A signature says the second that it was made in.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    over.abort();
    await load;
    await eventually(
      () => at.list('destination=rotated-often&status=pending&pageSize=1'),
      ({ results }) => results.length === 0,
    );
    const uses = keys.map(() => 0);
    for (const received of receiver.received) {
      // When it was signed, to the second.
      const signedAt = Number(received.headers['webhook-timestamp']) * 1_000;
      for (const [n, { key, from, until }] of keys.entries())
        if (signedAt >= from && signedAt + 1_000 < until) {
          verify(key, received);
          uses[n]! += 1;
        }
    }
    expect(Math.min(...uses)).toBeGreaterThan(0);
  }, 60_000);

  it('a receiver that hangs, answers without end or answers garbage does not slow another', async () => {
    const [hangs, pours, garbage, well] = [
      await at.receive(),
      await at.receive(),
      await at.receive(),
      await at.receive(),
    ];
    hangs.answer = () => undefined;
    pours.answer = (response) => {
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed)
          if (!response.write('x'.repeat(65_536))) return void response.once('drain', pour);
      };
      pour();
    };
    garbage.answer = (response) => response.socket!.end('not http\r\n\r\n');
    const bad = [
      await at.create('hangs', hangs.url),
      await at.create('pours', pours.url),
      await at.create('garbage', garbage.url),
    ];
    for (const { id } of bad) await at.queue(id, 50);
    await eventually(
      () => hangs.received.length,
      (count) => count > 0,
    );
    const made = await at.create('well', well.url);
    const startedAt = performance.now();
    await at.queue(made.id, 100);
    await at.withStatus(made, 'delivered', 100);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect((await at.withStatus(bad[1]!, 'delivered', 50)).length).toBe(50);
    const [failed] = await eventually(
      async () =>
        (await at.list('destination=garbage&status=pending')).results.filter(
          ({ error }) => error !== undefined,
        ),
      (results) => results.length > 0,
    );
    expect(failed!.error).toContain('could not be posted');
    for (const { name } of bad)
      expect((await at.call('DELETE', `/destinations/${name}?cancelPending=true`)).status).toBe(204);
  });

  it('a redirect fails, 410 disables; waiting deliveries go on where the destination leads when it is enabled', async () => {
    const [gone, next] = [await at.receive(), await at.receive()];
    gone.answer = (response) => response.writeHead(302, { location: next.url }).end();
    const made = await at.create('moved', gone.url);
    await at.queue(made.id, 1);
    const [failed] = await eventually(
      async () => (await at.list('destination=moved')).results,
      ([first]) => first?.error !== undefined,
    );
    expect(failed).toMatchObject({
      status: 'pending',
      httpStatus: 302,
      error: expect.stringContaining('redirect') as string,
    });
    expect(next.received).toEqual([]);
    gone.answer = (response) => response.writeHead(410).end();
    const off = await eventually(
      async () => {
        // The outcome of an attempt may be stored before the time of the next one.
        await at.hurry();
        return at.must(at.call<Destination>('GET', '/destinations/moved'));
      },
      ({ status }) => status === 'disabled',
    );
    expect(off.reason).toContain('410');
    const events = await at.must(
      at.call<Page<{ type: string }>>('GET', '/events?type=destination.webhook.disabled'),
    );
    expect(events.results.length).toBeGreaterThan(0);
    await at.queue(made.id, 2);
    const change = { updateMask: ['metadata.url'], destination: { metadata: { url: next.url } } };
    await at.must(at.call('PATCH', '/destinations/moved', change));
    expect(await at.must(at.call<Destination>('POST', '/destinations/moved:enable'))).toMatchObject({
      status: 'active',
    });
    await eventually(
      async () => {
        await at.hurry();
        return new Set(next.ids()).size;
      },
      (count) => count === 3,
    );
    await at.withStatus(made, 'delivered', 3);
    expect(new Set(next.ids()).size).toBe(3);
  });
});
