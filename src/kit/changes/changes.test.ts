import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { startForwarder, type Forwarder } from '../../../test/forwarder.ts';
import { createNotices, type Notices } from '../db/notices.ts';
import { newId } from '../ids.ts';
import { createChanges, type Change, type Changes, type News } from './index.ts';

/** A node as far as it tells of changes. */
interface Node {
  changes: Changes;
  notices: Notices;
  tell(change: Change): void;
}

describe('kit/changes', () => {
  const projectId = newId();
  const quiet = { debug: () => undefined };
  let test: TestDatabase;
  /** Of the node that tells. */
  let wire: Forwarder;
  let nodes: Node[];
  let heard: (News | undefined)[];

  beforeEach(async () => {
    test = await createTestDatabase();
    wire = await startForwarder(test.url);
    nodes = [];
    heard = [];
    begin(test.url).changes.watch(projectId, undefined, (news) => heard.push(news));
    // Until it has told its watcher to look again for the last time.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  });
  afterEach(async () => {
    for (const { changes, notices } of nodes) {
      await changes.close();
      await notices.close();
    }
    await wire.close();
    await test.drop();
  });

  function begin(url: string): Node {
    const notices = createNotices(url);
    let tell: (id: string, change: Change) => void = () => undefined;
    const changes = createChanges({ notices, onTold: (listener) => void (tell = listener) }, quiet);
    const node = { changes, notices, tell: (change: Change) => tell(projectId, change) };
    nodes.push(node);
    return node;
  }
  const change = (id = newId()): Change => ({ type: 'operation', id, status: 'success' });
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const isNamed = (id: string): boolean => heard.some((news) => news?.changes.some((one) => one.id === id));
  /** A node that knows who watches; the watcher has heard of its changes. */
  async function beginTelling(): Promise<Node> {
    const node = begin(wire.url);
    await expect
      .poll(() => {
        node.tell(change());
        return heard.some((news) => news !== undefined);
      })
      .toBe(true);
    await wait(600);
    heard = [];
    return node;
  }

  it('has other nodes look again where a node could not tell, though their own connection stayed', async () => {
    const node = await beginTelling();
    wire.cut('refuse');
    // The first fails on the connection that broke, the others while it rests.
    for (let n = 0; n < 4; n += 1) {
      node.tell(change());
      await wait(150);
    }
    expect(heard).toEqual([]);
    wire.heal();
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual([undefined]);
    const id = newId();
    node.tell(change(id));
    await expect.poll(() => isNamed(id)).toBe(true);
  }, 30_000);

  it('has other nodes look again where a node changed something before it could hear who looks', async () => {
    wire.cut('refuse');
    heard = [];
    const node = begin(wire.url);
    node.tell(change());
    await wait(300);
    wire.heal();
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual([undefined]);
  }, 30_000);

  it('has nobody look again for a connection that broke while nothing changed', async () => {
    const node = await beginTelling();
    wire.cut('refuse');
    wire.heal();
    const id = newId();
    // As soon as it listens again.
    await expect
      .poll(
        () =>
          node.notices.notify('test_a').then(
            () => 'sent',
            () => 'lost',
          ),
        { timeout: 15_000 },
      )
      .toBe('sent');
    node.tell(change(id));
    await expect.poll(() => isNamed(id)).toBe(true);
    expect(heard).not.toContain(undefined);
  }, 30_000);

  it('tells what waits before it closes', async () => {
    const node = await beginTelling();
    const [first, last] = [newId(), newId()];
    node.tell(change(first));
    await expect.poll(() => isNamed(first), { interval: 10 }).toBe(true);
    // Within the quarter of a second in which the next notification gathers.
    node.tell(change(last));
    await node.changes.close();
    await node.notices.close();
    await expect.poll(() => isNamed(last)).toBe(true);
  });

  it('closes within a second or so where the database answers nothing', async () => {
    const node = await beginTelling();
    wire.cut('hang');
    node.tell(change());
    const before = performance.now();
    await node.changes.close();
    expect(performance.now() - before).toBeLessThan(3_000);
    wire.heal();
  });
});
