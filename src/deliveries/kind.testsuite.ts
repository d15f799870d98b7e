import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../kit/ids.ts';
import type { CheckContext, Delivered, DeliveryContext, DestinationKind, OutgoingMessage } from './kind.ts';
import { faultsOf } from './metadata.ts';

/** How the other side behaves from now on. `hangs` takes the connection and says nothing; `refuses` says no. */
export type Behaviour = 'well' | 'refuses' | 'hangs';

/** The other side of a kind, as its suite needs it. */
export interface KindWorld {
  kind: DestinationKind;
  /** Leads there. */
  metadata: object;
  secrets: object;
  /** The same, to a place where nobody listens. */
  nowhere: object;
  behave(how: Behaviour): Promise<void>;
  /** What arrived and stayed: a text for each record, sorted; a message that came twice is there once. */
  arrived(): Promise<string[]>;
  context: Omit<DeliveryContext, 'signal' | 'mayStillSend'>;
  close(): Promise<void>;
}

/** Metadata that must be refused, and the path that is named. */
export type Nonsense = readonly [title: string, metadata: object, name: string];

interface Suite {
  type: string;
  open: () => Promise<KindWorld>;
  /** What one record looks like in `arrived`. */
  shown: (record: { id: string; name: string }) => string;
  nonsense: readonly Nonsense[];
  check?: CheckContext;
  /** A kind must give up on a silent other side within so long; the world may shorten its limit. Undefined: nobody is called. */
  patienceMs?: number;
}

const strict: CheckContext = { production: true, isAllowed: () => false };

let seq = 0;

/** A message of two records, as the lanes hand it over. */
export function testMessage(
  names: readonly string[] = ['Ann', 'Bo'],
  over: Partial<OutgoingMessage> = {},
): OutgoingMessage {
  seq += 1;
  const version = new Date(1_750_000_000_000 + seq * 1_000).toISOString();
  const entries = names.map((name, at) => ({
    fields: {},
    mappedFields: { name },
    raw: { id: String(at + 1), name },
  }));
  const result = JSON.stringify(entries);
  const id = newId();
  const installationId = '0190a000-0000-7000-8000-00000000000a';
  const head = { action: 'read', installationId, objectName: 'people' };
  const info = { type: 'inline', numRecords: names.length };
  const body = `${JSON.stringify(head).slice(0, -1)},"resultInfo":${JSON.stringify(info)},"result":${result}}`;
  return {
    id,
    projectId: '0190a000-0000-7000-8000-000000000001',
    seq: String(seq),
    installationId,
    groupRef: 'acme',
    object: 'people',
    createdAt: new Date(),
    records: names.length,
    keys: names.map((_, at) => ({ id: String(at + 1), version, deleted: false })),
    body: async () => Buffer.from(body),
    result: async () => Buffer.from(result),
    attempt: 1,
    mappedFields: async () => [],
    replay: false,
    ...over,
  };
}

/** What every kind of destination promises. */
export function testDestinationKind({
  type,
  open,
  shown,
  nonsense,
  check = strict,
  patienceMs,
}: Suite): void {
  describe(`the promises of a destination of kind ${type}`, () => {
    let world: KindWorld;
    const both = [
      { id: '1', name: 'Ann' },
      { id: '2', name: 'Bo' },
    ];

    beforeAll(async () => {
      world = await open();
    });
    beforeEach(() => world.behave('well'));
    afterAll(() => world.close());

    const send = (
      message: OutgoingMessage,
      { metadata = world.metadata, ...over }: Partial<DeliveryContext> & { metadata?: object } = {},
    ): Promise<Delivered> =>
      world.kind.deliver(
        message,
        { id: newId(), projectId: message.projectId, name: 'mine', metadata, secrets: world.secrets },
        { ...world.context, signal: new AbortController().signal, mayStillSend: () => true, ...over },
      );

    it('a message arrives whole, and a second time changes nothing', async () => {
      const message = testMessage();
      expect(await send(message)).toMatchObject({ kind: 'delivered' });
      const arrived = await world.arrived();
      expect(arrived).toEqual(expect.arrayContaining(both.map(shown)));
      expect(await send({ ...message, attempt: 2 })).toMatchObject({ kind: 'delivered' });
      expect(await world.arrived()).toEqual(arrived);
    });

    it('a message without records, as a test sends it, arrives and leaves none', async () => {
      const before = await world.arrived();
      expect(await send(testMessage([]))).toMatchObject({ kind: 'delivered' });
      expect(await world.arrived()).toEqual(before);
    });

    it('what is refused is a failure in words, and arrives at a later attempt', async () => {
      const message = testMessage(['Refused', 'Later']);
      await world.behave('refuses');
      const failed = await send(message);
      expect(failed).toMatchObject({ kind: 'failed', error: expect.stringMatching(/\w{3}.*\.$/s) as string });
      await world.behave('well');
      expect(await send({ ...message, attempt: 2 })).toMatchObject({ kind: 'delivered' });
      expect(await world.arrived()).toContain(shown({ id: '1', name: 'Refused' }));
    });

    it.runIf(patienceMs)('another side that says nothing is given up in time, and told apart', async () => {
      await world.behave('hangs');
      const startedAt = performance.now();
      expect(await send(testMessage())).toMatchObject({ kind: 'failed', silent: true });
      expect(performance.now() - startedAt).toBeLessThan(patienceMs ?? 0);
    });

    it.runIf(patienceMs)('a place where nobody listens is a failure that is told apart', async () => {
      expect(await send(testMessage(), { metadata: world.nowhere })).toMatchObject({
        kind: 'failed',
        silent: true,
      });
    });

    it('no failure shows a secret', async () => {
      const said: Delivered[] = [await send(testMessage(), { metadata: world.nowhere })];
      for (const how of patienceMs ? (['refuses', 'hangs'] as const) : (['refuses'] as const)) {
        await world.behave(how);
        said.push(await send(testMessage()));
      }
      for (const secret of Object.values(world.secrets) as string[])
        expect(JSON.stringify(said)).not.toContain(secret);
    });

    it('nothing leaves once it may not, or once nobody records it', async () => {
      const before = await world.arrived();
      const late = testMessage(['Too late']);
      expect(await send(late, { mayStillSend: () => false })).toEqual({ kind: 'unsent' });
      expect(await send(late, { signal: AbortSignal.abort() })).toEqual({ kind: 'unsent' });
      expect(await world.arrived()).toEqual(before);
    });

    it.runIf(patienceMs)(
      'an attempt that is given up under way ends at once and counts as not made',
      async () => {
        await world.behave('hangs');
        const cutter = new AbortController();
        setTimeout(() => cutter.abort(), 50);
        const startedAt = performance.now();
        expect(await send(testMessage(), { signal: cutter.signal })).toEqual({ kind: 'unsent' });
        expect(performance.now() - startedAt).toBeLessThan(1_000);
      },
    );

    it('takes its own metadata and names a share for it', () => {
      const { kind, metadata, secrets } = world;
      const own = { production: false, isAllowed: () => true };
      expect(faultsOf(kind, { metadata, secrets }, own)).toEqual([]);
      expect(kind.shareOf(metadata)).not.toBe('');
      expect(kind.shareOf(metadata)).not.toBe(kind.shareOf(world.nowhere));
    });

    it.each(nonsense)('refuses %s by its path', (_title, metadata, name) => {
      const faults = faultsOf(world.kind, { metadata, secrets: world.secrets }, check);
      expect(faults.map((fault) => fault.name)).toContain(name);
      for (const { in: place, detail } of faults) expect([place, detail.length > 5]).toEqual(['body', true]);
    });
  });
}
