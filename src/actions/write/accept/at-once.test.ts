import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import type { Database } from '../../../kit/db/database.ts';
import type { Statement } from '../../../kit/db/statement.ts';
import { count, groundOf, intake, until } from '../../../operations/harness.fixture.ts';
import type { Intake } from '../../../operations/index.ts';
import type { RecordOutcome } from '../../../providers/index.ts';
import { applied, createNode, createWorker, handlerOf, type Node } from '../harness.fixture.ts';

/** A promise that somebody else ends. */
function gate(): { opened: Promise<void>; open: () => void } {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { opened, open };
}

describe('write/at-once', () => {
  let test: TestDatabase;
  const nodes: Node[] = [];

  beforeEach(async () => {
    test = await createTestDatabase();
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close(1_000);
    await test.drop();
  });

  const nodeOf = (database: Database): Node => {
    const node = createNode(groundOf(database), { waitForTurnMs: 20_000 });
    nodes.push(node);
    return node;
  };
  /** A node whose acceptances are committed late; `accepted`: one is done but for its commit. */
  const lateNode = (mayCommit: Promise<void>): { node: Node; accepted: Promise<void> } => {
    const { opened: accepted, open } = gate();
    const rows = async <Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> => {
      if (statement.name !== 'ledger_accept') return test.database.rows<Row>(statement, values);
      return test.database.transaction(async (tx) => {
        const found = await tx.rows<Row & { lateAt: number | null }>(statement, values);
        // The first one learns the time of the database, and stores nothing.
        if (found.every(({ lateAt }) => lateAt === null)) {
          open();
          await mayCommit;
        }
        return found;
      });
    };
    return { node: nodeOf({ ...test.database, rows }), accepted };
  };
  const someWait = async (): Promise<boolean> =>
    (
      await test.database.raw(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).length > 0;
  const update = (given: Partial<Intake> = {}): Intake =>
    intake({ request: { type: 'update' }, orderKeys: ['i/contacts/1'], ...given });

  it('sends one of two synchronous writes of a record that two nodes accept at once, and then the other', async () => {
    let running = 0;
    let most = 0;
    const send = async (): Promise<RecordOutcome[]> => {
      most = Math.max(most, (running += 1));
      await wait(300);
      running -= 1;
      return [{ kind: 'applied' }];
    };
    const commit = gate();
    const { node, accepted } = lateNode(commit.opened);
    const other = nodeOf(test.database);
    const first = node.perform(update(), send);
    await accepted;
    const second = other.perform(update(), send);
    const elsewhere = other.perform(update({ orderKeys: ['i/contacts/2'] }), async () => [
      { kind: 'applied' },
    ]);
    await until('the second waits, or is sent', async () => running > 0 || (await someWait())).finally(
      commit.open,
    );
    const done = await Promise.all([first, second, elsewhere]);
    expect(done).toMatchObject(done.map(() => ({ recorded: true, outcomes: [{ kind: 'applied' }] })));
    expect(most).toBe(1);
    expect(await count(test.database, 'turn')).toBe(0);
  });

  it('holds a queued write back that is committed after a synchronous one of its record that it came before', async () => {
    const told: string[] = [];
    const [commit, ended] = [gate(), gate()];
    const { node, accepted } = lateNode(commit.opened);
    const queued = node.acceptQueued(update({ laneId: randomUUID() }));
    await accepted;
    const performed = nodeOf(test.database).perform(update(), async () => {
      told.push('sent');
      await ended.opened;
      told.push('answered');
      return [{ kind: 'applied' }];
    });
    await until('the synchronous one is sent', () => told.length === 1);
    commit.open();
    await queued;
    const worker = createWorker(groundOf(test.database), {
      sender: handlerOf((item) => {
        told.push('queued');
        return applied(item);
      }),
      pollMs: 50,
      leaseMs: 3_000,
    });
    await worker.start();
    try {
      await wait(600);
      expect(told).toEqual(['sent']);
      ended.open();
      expect(await performed).toMatchObject({ recorded: true });
      await until('everything ended', async () => (await count(test.database, 'work')) === 0);
      expect(told).toEqual(['sent', 'answered', 'queued']);
    } finally {
      ended.open();
      await worker.stop(1_000);
    }
  });
});
