import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection, Frontend } from '../../client/src/index.ts';
import { watch } from '../src/components/use-oauth.ts';
import { dropUnused } from '../src/components/use-renewal.ts';

const baseUrl = 'https://svc.example.com';
const made = {
  id: 'c2',
  provider: 'hubspot',
  status: 'working',
  consumer: { consumerRef: 'ada' },
} as unknown as Connection;

/** A list of svc, as it is walked through. */
const listOf = (...all: unknown[]) => ({
  async *[Symbol.asyncIterator]() {
    yield* all;
  },
});
const svcWith = (connections: unknown[], installations: unknown[] = []) => {
  const dropped: string[] = [];
  const svc = {
    connections: {
      list: () => listOf(...connections),
      delete: async (id: string) => void dropped.push(id),
    },
    installations: { list: () => listOf(...installations) },
  } as unknown as Frontend;
  return { svc, dropped };
};

describe('ui/embed/sign-in', () => {
  let hear: ((event: object) => void) | undefined;
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('addEventListener', (_type: string, listener: typeof hear) => {
      hear = listener;
    });
    vi.stubGlobal('removeEventListener', () => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  function watched() {
    const popup = { closed: true } as Window;
    const connected: [id: string, isNamed: boolean][] = [];
    const { svc } = svcWith([made]);
    watch(
      { svc, baseUrl, groupRef: 'acme', consumerRef: 'ada' },
      { signIn: { provider: 'hubspot', place: {} }, before: new Map(), name: 'window', popup },
      {
        connected: ({ id }, isNamed) => connected.push([id, isNamed]),
        refused: () => undefined,
        closed: () => undefined,
      },
    );
    return { connected, popup };
  }

  it('takes a connection that it only found for one that may have been made elsewhere', async () => {
    const { connected } = watched();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(connected).toEqual([['c2', false]]);
  });

  it.each([
    [{ connection: 'c2' }, [['c2', true]]],
    [{}, [['c2', false]]],
    [{ connection: 'c3' }, []],
  ])('takes for its own what its window named: %j', async (data, expected) => {
    const { connected, popup } = watched();
    hear?.({ origin: baseUrl, source: popup, data: { eventType: 'AUTHORIZATION_SUCCEEDED', data } });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(connected).toEqual(expected);
  });

  it('keeps a connection that something is installed on', async () => {
    const used = svcWith([made], [{ connection: { id: 'c1' } }, { connection: { id: 'c2' } }]);
    await dropUnused(used.svc, 'acme', 'c2');
    expect(used.dropped).toEqual([]);
    const unused = svcWith([made], [{ connection: { id: 'c1' } }]);
    await dropUnused(unused.svc, 'acme', 'c2');
    expect(unused.dropped).toEqual(['c2']);
  });
});
