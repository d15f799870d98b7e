import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { createAcceptor, type Acceptor } from '../../operations/accept.ts';
import {
  clearLedger,
  count,
  idMadeAt,
  intake,
  projectId,
  rescue,
  take,
  until,
} from '../../operations/harness.fixture.ts';
import type { Intake, WorkItem } from '../../operations/index.ts';
import { applied } from './harness.fixture.ts';
import { defaultRetryPolicy } from './record/next-step.ts';
import { allOutcomes, settle, unknownOutcome } from './record/settle.ts';
import {
  claim,
  extend,
  firstProject,
  fold,
  giveBack,
  openNode,
  pause,
  type HeldLane,
} from '../../lanes/store/lanes.ts';
import { record } from '../../operations/store/record.ts';

describe('write/lanes', () => {
  let test: TestDatabase;
  let acceptor: Acceptor;

  beforeAll(async () => {
    test = await createTestDatabase();
    acceptor = createAcceptor(test.database);
  });
  afterAll(() => test.drop());
  beforeEach(() => clearLedger(test.database));

  const queue = async (given: Partial<Intake>): Promise<string> => {
    const accepted = await acceptor.accept(intake(given), null);
    return accepted?.operationId ?? '';
  };
  const claimAll = (leaseMs = 60_000, limit = 20): Promise<HeldLane[]> =>
    claim(test.database, { afterProject: firstProject, perProject: 20, limit, lease: randomUUID(), leaseMs });
  const takeFrom = (lane: HeldLane, room = 10): Promise<WorkItem[]> =>
    take(test.database, [{ ...lane, room }]);
  const done = (item: WorkItem) => settle(item, applied(item), defaultRetryPolicy);
  const finish = async (item: WorkItem): Promise<boolean> =>
    (await record(test.database, [done(item)]))[0] ?? false;
  const back = (lane: HeldLane, blockedMs = 0): Promise<void> =>
    giveBack(test.database, [{ ...lane, blockedMs }]);
  const shift = (interval: string): Promise<unknown> =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
  const waiting = async (): Promise<number> => {
    const rows = await test.database.raw(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return Number(rows[0]?.['n']);
  };
  const oneLane = async (leaseMs?: number): Promise<HeldLane> => {
    await fold(test.database);
    const [lane, ...others] = await claimAll(leaseMs);
    expect(others).toEqual([]);
    if (!lane) throw new Error('no lane was claimed');
    return lane;
  };

  it('gives each due lane to one of several claimers only', async () => {
    await Promise.all(Array.from({ length: 40 }, () => queue({ laneId: randomUUID() })));
    await Promise.all([fold(test.database), fold(test.database)]);
    const claims = (await Promise.all(Array.from({ length: 8 }, () => claimAll(60_000, 10)))).flat();
    const rest = (await Promise.all([claimAll(), claimAll()])).flat();
    const ids = [...claims, ...rest].map((lane) => lane.id);
    expect(ids).toHaveLength(40);
    expect(new Set(ids).size).toBe(40);
  });

  it('claims from project to project, so that one with many lanes does not hide another', async () => {
    const [first, second] = ['0190a000-0000-7000-8000-00000000000a', '0190a000-0000-7000-8000-00000000000b'];
    for (let n = 0; n < 30; n++) await queue({ projectId: first, laneId: randomUUID() });
    await queue({ projectId: second, laneId: randomUUID() });
    await fold(test.database);
    const request = { perProject: 5, limit: 10, leaseMs: 60_000 };
    const lanes = await claim(test.database, { ...request, afterProject: firstProject, lease: randomUUID() });
    expect(lanes.filter((lane) => lane.projectId === first)).toHaveLength(5);
    expect(lanes.filter((lane) => lane.projectId === second)).toHaveLength(1);
    const after = await claim(test.database, { ...request, afterProject: first, lease: randomUUID() });
    expect(after).toEqual([]);
  });

  it('marks what it takes as started, and takes nothing twice', async () => {
    const laneId = randomUUID();
    for (let n = 0; n < 3; n++) await queue({ laneId });
    const lane = await oneLane();
    const first = await takeFrom(lane, 2);
    expect(first).toHaveLength(2);
    expect(first.every((item) => item.attempt === 1)).toBe(true);
    expect(
      await count(test.database, 'work WHERE state = 1 AND attempt = 1 AND lease = $1', [lane.lease]),
    ).toBe(2);
    expect(await takeFrom(lane)).toHaveLength(1);
    expect(await takeFrom(lane)).toEqual([]);
  });

  it.each([-600_000, 600_000])(
    'knows when something was accepted, although the clock of its node was %i ms off',
    async (skewMs) => {
      const operationId = idMadeAt(Date.now() + skewMs);
      const before = Date.now();
      await acceptor.accept(intake(), null, operationId);
      const accepted = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [item] = await takeFrom(await oneLane());
      expect(item?.operationId).toBe(operationId);
      // The clock of the database is that of this machine; a statement takes its time. Of two clocks the earlier counts.
      expect(item?.acceptedAt).toBeGreaterThan(before + Math.min(0, skewMs) - 2_000);
      expect(item?.acceptedAt).toBeLessThanOrEqual(accepted);
    },
  );

  it('takes nothing for accepted later than it was when the clock of the database is set back', async () => {
    await queue({});
    const accepted = Date.now();
    const lane = await oneLane();
    await shift('-10 minutes');
    await test.database.raw('UPDATE work SET due_at = svc_now() WHERE state = 0');
    const [item] = await takeFrom(lane);
    expect(item?.acceptedAt).toBeLessThanOrEqual(accepted);
  });

  it('takes nothing under a lease that ended or belongs to another', async () => {
    await queue({});
    const lane = await oneLane();
    expect(await takeFrom({ ...lane, lease: randomUUID() })).toEqual([]);
    await shift('2 minutes');
    expect(await takeFrom(lane)).toEqual([]);
    expect(await extend(test.database, [lane], 60_000)).toEqual(new Set([lane]));
    expect(await takeFrom(lane)).toHaveLength(1);
  });

  it('refuses the record of a holder whose items were rescued, and takes that of the rescuer', async () => {
    await queue({});
    const zombie = await oneLane();
    const [item] = await takeFrom(zombie);
    if (!item) throw new Error('nothing was taken');
    await shift('2 minutes');
    const [heir] = await claimAll();
    if (!heir) throw new Error('the lane was not claimed');
    const [rescued] = await rescue(test.database, [{ ...heir, room: 10 }]);
    expect(rescued).toMatchObject({ operationId: item.operationId, attempt: 1, lease: heir.lease });
    expect(await finish(item)).toBe(false);
    expect(await extend(test.database, [zombie], 60_000)).toEqual(new Set());
    expect(await count(test.database, "operation WHERE status = 'in_progress'")).toBe(1);
    if (!rescued) return;
    const lost = settle(rescued, allOutcomes(rescued, unknownOutcome('lost')), defaultRetryPolicy);
    expect(await record(test.database, [lost])).toEqual([true]);
    expect(await count(test.database, "operation WHERE status = 'failure' AND unknown = 1")).toBe(1);
    expect(await count(test.database, 'work')).toBe(0);
  });

  it('never sends what it rescued: a rescued item is not taken', async () => {
    await queue({});
    const first = await oneLane();
    await takeFrom(first);
    await shift('2 minutes');
    const [heir] = await claimAll();
    if (!heir) throw new Error('the lane was not claimed');
    expect(await takeFrom(heir)).toEqual([]);
    await rescue(test.database, [{ ...heir, room: 10 }]);
    expect(await takeFrom(heir)).toEqual([]);
  });

  it('keeps a lane with sent rows due when it is given back, so that they are rescued', async () => {
    await queue({});
    const lane = await oneLane();
    await takeFrom(lane);
    await back(lane);
    const [heir] = await claimAll();
    expect(heir?.id).toBe(lane.id);
    expect(heir && (await rescue(test.database, [{ ...heir, room: 10 }]))).toHaveLength(1);
  });

  it('rests an empty lane, and finds it again at the next acceptance', async () => {
    const laneId = randomUUID();
    await queue({ laneId });
    const lane = await oneLane();
    for (const item of await takeFrom(lane)) await finish(item);
    await back(lane);
    expect(await claimAll()).toEqual([]);
    await queue({ laneId });
    expect(await takeFrom(await oneLane())).toHaveLength(1);
  });

  it('finds an item accepted while its lane is being given back, whenever its wake-up is folded', async () => {
    const laneId = randomUUID();
    await queue({ laneId });
    const lane = await oneLane();
    for (const item of await takeFrom(lane)) await finish(item);
    // The wake-up is folded while the lane is held: only its counter moves, and give-back must notice.
    await queue({ laneId });
    await fold(test.database);
    await back(lane);
    const again = await oneLane();
    for (const item of await takeFrom(again)) await finish(item);
    // The wake-up is folded after the give-back.
    await queue({ laneId });
    await back(again);
    expect(await takeFrom(await oneLane())).toHaveLength(1);
  });

  it('notices a wake-up that is folded after its give-back looked for work, but before it holds the lane', async () => {
    const laneId = randomUUID();
    await queue({ laneId });
    const lane = await oneLane();
    for (const item of await takeFrom(lane)) await finish(item);
    let given: Promise<void> = Promise.resolve();
    await test.database.transaction(async (tx) => {
      await tx.rows({ name: 'test_lock_lane', text: 'SELECT FROM lane WHERE id = $1 FOR UPDATE' }, [laneId]);
      given = back(lane);
      await until('the give-back waits', async () => (await waiting()) === 1);
      await queue({ laneId });
      await fold(tx);
    });
    await given;
    expect(await takeFrom(await oneLane())).toHaveLength(1);
  });

  it('finds every item while acceptance, fold and give-back run against each other', async () => {
    const laneId = randomUUID();
    let accepting = true;
    const accepts = (async () => {
      for (let n = 0; n < 150; n++) await queue({ laneId });
      accepting = false;
    })();
    let finished = 0;
    const endsAt = Date.now() + 20_000;
    while (Date.now() < endsAt) {
      const over = !accepting && (await count(test.database, 'wake')) === 0;
      await Promise.all([fold(test.database), fold(test.database)]);
      const lanes = await claimAll();
      if (over && lanes.length === 0) break;
      for (const lane of lanes) {
        const items = await takeFrom(lane, 100);
        await Promise.all(items.map(finish));
        finished += items.length;
        await Promise.all([back(lane), fold(test.database)]);
      }
    }
    await accepts;
    expect(await count(test.database, 'work')).toBe(0);
    expect(finished).toBe(150);
  });

  it('does the items of one record one after the other, in the order of acceptance, beside others', async () => {
    const laneId = randomUUID();
    const first = await queue({ laneId, orderKeys: ['contact 1'] });
    const second = await queue({ laneId, orderKeys: ['contact 1', 'contact 2'], records: [{}, {}] });
    const third = await queue({ laneId, orderKeys: ['contact 2'] });
    const other = await queue({ laneId, orderKeys: ['contact 3'] });
    const lane = await oneLane();
    const ids = (items: WorkItem[]): string[] => items.map((item) => item.operationId);
    const round = await takeFrom(lane);
    expect(ids(round)).toEqual([first, other]);
    expect(await takeFrom(lane)).toEqual([]);
    await Promise.all(round.map(finish));
    const next = await takeFrom(lane);
    expect(ids(next)).toEqual([second]);
    await Promise.all(next.map(finish));
    expect(ids(await takeFrom(lane))).toEqual([third]);
    expect(await count(test.database, 'turn')).toBe(1);
  });

  it('keeps the turn of an item that waits for its next attempt', async () => {
    const laneId = randomUUID();
    const first = await queue({ laneId, orderKeys: ['contact 1'] });
    await queue({ laneId, orderKeys: ['contact 1'] });
    const lane = await oneLane();
    const [item] = await takeFrom(lane);
    if (!item) throw new Error('nothing was taken');
    await record(test.database, [settle(item, { kind: 'postponed', inMs: 30_000 }, defaultRetryPolicy)]);
    expect(await takeFrom(lane)).toEqual([]);
    await back(lane);
    // Not due: the only item that could start waits.
    expect(await claimAll()).toEqual([]);
    await shift('31 seconds');
    const again = await oneLane();
    expect((await takeFrom(again)).map((one) => one.operationId)).toEqual([first]);
  });

  it('wakes a lane whose item waits for the turn of a synchronous write', async () => {
    const laneId = randomUUID();
    const node = { projectId, id: randomUUID(), lease: randomUUID() };
    await openNode(test.database, node, 60_000);
    const marked = await acceptor.accept(intake({ laneId: node.id, orderKeys: ['contact 1'] }), node.lease);
    await queue({ laneId, orderKeys: ['contact 1'] });
    const lane = await oneLane();
    expect(await takeFrom(lane)).toEqual([]);
    await back(lane);
    expect(await claimAll()).toEqual([]);
    const [sent] = await test.database.raw('SELECT seq FROM work WHERE ref = $1', [marked?.operationId]);
    const item = {
      ...intake(),
      records: [],
      seq: String(sent?.['seq']),
      lease: node.lease,
      operationId: marked?.operationId ?? '',
      tally: { succeeded: 0, failed: 0, unknown: 0, errors: [] },
    } as unknown as WorkItem;
    expect(await finish(item)).toBe(true);
    expect(await takeFrom(await oneLane())).toHaveLength(1);
  });

  it('hands over what has passed its deadline without counting an attempt, also in a blocked or throttled lane', async () => {
    const laneId = randomUUID();
    await queue({ laneId, deadlineSeconds: 7_200 });
    await queue({ laneId, deadlineSeconds: 60 });
    const lane = await oneLane();
    await back(lane, 3_600_000);
    await shift('70 seconds');
    const again = await oneLane();
    const [item, ...others] = await takeFrom(again);
    expect(others).toEqual([]);
    expect(item).toMatchObject({ expired: true, attempt: 0 });
    expect(await count(test.database, 'work WHERE state = 1')).toBe(0);
  });

  it('sends nothing from a throttled lane before its time, however many wake-ups arrive', async () => {
    const laneId = randomUUID();
    await queue({ laneId });
    const lane = await oneLane();
    await back(lane, 20_000);
    await queue({ laneId });
    await fold(test.database);
    expect(await claimAll()).toEqual([]);
    await shift('21 seconds');
    expect(await takeFrom(await oneLane())).toHaveLength(2);
  });

  it('keeps a wake-up that arrives while a throttled lane is given back', async () => {
    const laneId = randomUUID();
    await queue({ laneId });
    const lane = await oneLane();
    for (const item of await takeFrom(lane)) await finish(item);
    await queue({ laneId });
    await fold(test.database);
    await back(lane, 20_000);
    await shift('21 seconds');
    expect(await takeFrom(await oneLane())).toHaveLength(1);
  });

  it('starts nothing in a paused lane, rescues in it all the same, and goes on when it is resumed', async () => {
    const laneId = randomUUID();
    await queue({ laneId });
    await queue({ laneId });
    const lane = await oneLane();
    await takeFrom(lane, 1);
    await pause(test.database, projectId, laneId, true);
    expect(await takeFrom(lane)).toEqual([]);
    await back(lane);
    const [heir] = await claimAll();
    if (!heir) throw new Error('the lane was not claimed');
    expect(await takeFrom(heir)).toEqual([]);
    for (const item of await rescue(test.database, [{ ...heir, room: 10 }])) await finish(item);
    await back(heir);
    expect(await claimAll()).toEqual([]);
    await pause(test.database, projectId, laneId, false);
    expect(await takeFrom(await oneLane())).toHaveLength(1);
  });

  it('accepts a marked write only while the lane of its node is held', async () => {
    const node = { projectId, id: randomUUID(), lease: randomUUID() };
    await openNode(test.database, node, 60_000);
    expect(await acceptor.accept(intake({ laneId: node.id }), node.lease)).toBeDefined();
    await shift('2 minutes');
    expect(await acceptor.accept(intake({ laneId: node.id }), node.lease)).toBeUndefined();
    const [heir] = await claimAll();
    if (!heir) throw new Error('the lane was not claimed');
    expect(heir).toMatchObject({ id: node.id, kind: 'node' });
    expect(await rescue(test.database, [{ ...heir, room: 10 }])).toHaveLength(1);
    expect(await acceptor.accept(intake({ laneId: node.id }), node.lease)).toBeUndefined();
    expect(await count(test.database, 'operation')).toBe(1);
  });

  it('removes the lane of a dead node when nothing is left in it', async () => {
    const node = { projectId, id: randomUUID(), lease: randomUUID() };
    await openNode(test.database, node, 60_000);
    await acceptor.accept(intake({ laneId: node.id }), node.lease);
    await shift('2 minutes');
    const [heir] = await claimAll();
    if (!heir) throw new Error('the lane was not claimed');
    for (const item of await rescue(test.database, [{ ...heir, room: 10 }])) await finish(item);
    await back(heir);
    expect(await count(test.database, 'lane')).toBe(0);
  });
});
