import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openBehindWire, type BehindWire } from '../../test/behind-wire.ts';
import { openLateWay } from '../../test/late-way.ts';
import { openDatabase } from '../kit/db/database.ts';
import { isUnsaid } from '../kit/db/faults.ts';
import { noteTime } from '../kit/db/in-time.ts';
import { newId } from '../kit/ids.ts';
import type { Problem } from '../kit/problem.ts';
import { openNode } from '../lanes/store/lanes.ts';
import { createAcceptor } from './accept.ts';
import { count, intake, projectId } from './harness.fixture.ts';
import type { Intake, KeyClaim } from './index.ts';
import { findEarlierUse } from './keys.ts';

const key = (): KeyClaim => ({ principal: 'key:1', key: randomUUID(), hash: Buffer.alloc(32) });

describe('operations/doubt', () => {
  let at: BehindWire;

  beforeAll(async () => {
    at = await openBehindWire();
    // The time of the database is known from then on.
    await acceptor().accept(intake(), null);
  });
  afterEach(() => at.wire.heal());
  afterAll(() => at.close());

  const acceptor = () => createAcceptor(at.database);
  const stored = async (): Promise<number> => {
    const [row] = await at.test.database.raw('SELECT count(*)::int AS count FROM operation');
    return Number(row?.['count']);
  };
  /** What it is told whose statement is done when the database goes away. */
  async function whenLost(text: string, work: () => Promise<unknown>): Promise<unknown> {
    at.wire.loseWay(text);
    const fate: unknown = await work().catch((error: unknown) => error);
    at.wire.heal();
    return fate;
  }
  const stands = {
    code: 'outcome-unknown',
    retryable: false,
    details: { extra: { operationId: expect.any(String) as string, category: 'unknownOutcome' } },
  };
  const operationOf = (fate: unknown): unknown =>
    (fate as { details: { extra: { operationId: string } } }).details.extra.operationId;

  it('names the operation of a queued write that may be stored and that no key finds', async () => {
    const before = await stored();
    const fate = await whenLost('ledger_accept', () => acceptor().accept(intake(), null));
    expect(fate).toMatchObject(stands);
    expect(await stored()).toBe(before + 1);
    const [row] = await at.test.database.raw('SELECT id FROM operation ORDER BY created_at DESC LIMIT 1');
    expect(operationOf(fate)).toBe(row?.['id']);
  });

  it('has a queued write with a key repeated, which finds it', async () => {
    const given = intake({ key: key() });
    const before = await stored();
    const fate = await whenLost('ledger_accept', () => acceptor().accept(given, null));
    expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect((fate as Error).message).toContain('not known whether the write was accepted');
    expect(await acceptor().accept(given, null)).toMatchObject({ earlier: { ended: false } });
    expect(await stored()).toBe(before + 1);
  });

  it('has a repetition whose key is our own asked for once more, and speaks of no key', async () => {
    const given = intake({ key: { ...key(), principal: 'retry', forever: true } });
    const fate = await whenLost('ledger_accept', () => acceptor().accept(given, null));
    expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect((fate as Error).message).toContain('The same request stores it once');
    expect((fate as Error).message).not.toContain('Idempotency-Key');
  });

  it('does not leave open whether anything was accepted where it forgets a key', async () => {
    const claim = key();
    await acceptor().accept(intake({ key: claim }), null);
    await at.test.database.raw(`UPDATE clock SET shift = '8 days'`);
    const fate = await whenLost('key_forget', () => findEarlierUse(at.database, projectId, claim));
    await at.test.database.raw(`UPDATE clock SET shift = '0'`);
    expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect(isUnsaid(fate as Problem)).toBe(false);
  });

  it('says of a synchronous write that nothing was sent', async () => {
    const lane = { projectId, id: newId(), lease: randomUUID() };
    await openNode(at.database, lane, 60_000);
    const accept = (more: Partial<Intake>) =>
      whenLost('ledger_accept', () => acceptor().accept(intake({ laneId: lane.id, ...more }), lane.lease));
    const fate = await accept({});
    expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect((fate as Error).message).toContain('Nothing was sent: ');
    const keyed = await accept({ key: key() });
    expect(keyed).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect((keyed as Error).message).toContain('finds what becomes of it');
  });

  it('says of a synchronous write that another node may send what it says of a queued one', async () => {
    const lane = { projectId, id: newId(), lease: randomUUID() };
    await openNode(at.database, lane, 60_000);
    const given = intake({ laneId: lane.id, mayRepeat: true });
    const accept = (more: Partial<Intake>) =>
      whenLost('ledger_accept', () => acceptor().accept({ ...given, ...more }, lane.lease));
    expect(await accept({})).toMatchObject(stands);
    const keyed = await accept({ key: key() });
    expect(keyed).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect((keyed as Error).message).toContain('not known whether the write was accepted');
  });

  it('says that nothing was accepted where nothing was sent to the database, or where it refused', async () => {
    const before = await stored();
    at.wire.cut('refuse');
    const unsent: unknown = await acceptor()
      .accept(intake(), null)
      .catch((error: unknown) => error);
    at.wire.heal();
    at.wire.refuse(['53100'], 1);
    const refused: unknown = await acceptor()
      .accept(intake(), null)
      .catch((error: unknown) => error);
    at.wire.heal();
    for (const fate of [unsent, refused]) {
      expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
      expect((fate as Error).message).toContain('Nothing was accepted');
    }
    expect(await stored()).toBe(before);
  });

  it('says the same where a connection was wanted for it and none came', async () => {
    const before = await stored();
    at.wire.cut('hang');
    const away = openDatabase({ url: at.wire.url, poolSize: 1, applicationName: 'test' });
    const fate: unknown = await createAcceptor(away)
      .accept(intake(), null)
      .catch((error: unknown) => error);
    at.wire.heal();
    await away.close();
    expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect((fate as Error).message).toContain('Nothing was accepted');
    expect(await stored()).toBe(before);
  }, 30_000);

  it('stores nothing by a statement that arrives when its caller was told that nothing is there any more', async () => {
    const way = openLateWay(at.test.database);
    const { accept } = createAcceptor(way.database);
    await accept(intake(), null);
    const left = ['operation', 'record', 'work', 'turn', 'wake', 'idempotency'];
    const counts = () => Promise.all(left.map((table) => count(at.test.database, table)));
    const before = await counts();
    way.holdUp(/^ledger_accept/);
    const ordered = intake({ orderKeys: [`i/contacts/${randomUUID()}`] });
    const fates = await Promise.allSettled([
      accept(intake(), null),
      accept(ordered, null),
      accept(intake({ key: key() }), null),
    ]);
    expect(fates[0]).toMatchObject({ reason: stands });
    expect(await way.letArrive()).toBeGreaterThan(1);
    expect(await counts()).toEqual(before);
  });

  it.each(['behind', 'ahead of'])(
    'accepts once where it believes that the time of the database is far %s what it is',
    async (side) => {
      const before = await stored();
      const aheadMs = side === 'behind' ? -90_000 : 90_000;
      noteTime(at.test.database, Date.now() + aheadMs);
      expect(await createAcceptor(at.test.database).accept(intake(), null)).toMatchObject({ waits: false });
      expect(await stored()).toBe(before + 1);
    },
  );

  it('does not accept anew what another node may send', async () => {
    const lane = { projectId, id: newId(), lease: randomUUID() };
    await openNode(at.database, lane, 60_000);
    const given = intake({ laneId: lane.id, mayRepeat: true });
    at.wire.loseWay('ledger_accept');
    const first = acceptor()
      .accept(given, lane.lease)
      .catch((error: unknown) => error);
    // The commit stands, and the lane becomes another's before its node looks.
    await vi.waitUntil(async () => {
      const [row] = await at.test.database.raw(
        'WITH mine AS (DELETE FROM work WHERE lane_id = $1 RETURNING 1) SELECT count(*)::int AS n FROM mine',
        [lane.id],
      );
      return row?.['n'] === 1;
    });
    at.wire.heal();
    expect(await first).toMatchObject(stands);
  });
});
