import { describe, expect, it } from 'vitest';
import { createGroupCommit, type GroupCommitOptions } from './group-commit.ts';

class BadRow extends Error {}

/** A commit that the test lets through by hand, group by group. */
function manualCommit() {
  const groups: { items: readonly number[]; succeed(): void; fail(error: Error): void }[] = [];
  const commit = (items: readonly number[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      groups.push({ items, succeed: () => resolve(items.map((item) => `done ${item}`)), fail: reject });
    });
  return { groups, commit };
}

function createWith(
  options: Partial<GroupCommitOptions<number, string>> & Pick<GroupCommitOptions<number, string>, 'commit'>,
) {
  return createGroupCommit<number, string>({
    maxGroup: 500,
    maxInFlight: 2,
    maxWaiting: 10_000,
    bisectOn: (error) => error instanceof BadRow,
    ...options,
  });
}

const settled = async () => new Promise((resolve) => setImmediate(resolve));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('src/kit/group-commit', () => {
  it('commits at once what arrives together, and gives each its own result', async () => {
    const { groups, commit } = manualCommit();
    const group = createWith({ commit });
    const results = Promise.all([1, 2, 3].map((item) => group.submit(item)));
    await settled();
    expect(groups.map(({ items }) => items)).toEqual([[1, 2, 3]]);
    groups[0]!.succeed();
    expect(await results).toEqual(['done 1', 'done 2', 'done 3']);
  });

  it('has two groups in flight at most, the second only when it is half full; what arrives meanwhile is the next, in order', async () => {
    const { groups, commit } = manualCommit();
    const group = createWith({ commit, maxGroup: 4 });
    const submitted: Promise<string>[] = [];
    for (const item of upTo(7)) {
      submitted.push(group.submit(item));
      await settled();
    }
    expect(groups.map(({ items }) => items)).toEqual([[0], [1, 2]]);
    groups[1]!.succeed();
    await settled();
    expect(groups.map(({ items }) => items)).toEqual([[0], [1, 2], [3, 4, 5, 6]]);
    groups[0]!.succeed();
    groups[2]!.succeed();
    expect(await Promise.all(submitted)).toEqual(upTo(7).map((item) => `done ${item}`));
  });

  it('fails what waits behind a group whose error says that nothing can be committed now', async () => {
    const { groups, commit } = manualCommit();
    const lost = new Error('nobody answers');
    const group = createWith({ commit, failsAll: (error) => error === lost });
    const first = group.submit(1);
    await settled();
    const behind = [group.submit(2), group.submit(3)];
    groups[0]!.fail(lost);
    for (const fate of await Promise.allSettled([first, ...behind]))
      expect(fate).toEqual({ status: 'rejected', reason: lost });
    expect(groups).toHaveLength(1);
    const next = group.submit(4);
    await settled();
    groups[1]!.succeed();
    expect(await next).toBe('done 4');
  });

  it('answers a group after the next one has left if it is told to, else before', async () => {
    for (const answerLast of [false, true]) {
      const { groups, commit } = manualCommit();
      const happened: string[] = [];
      const group = createWith({
        answerLast,
        commit: (items) => {
          process.nextTick(() => happened.push(`sent ${items.join()}`));
          return commit(items);
        },
      });
      const first = group.submit(1).then((result) => happened.push(result));
      await settled();
      const second = group.submit(2);
      groups[0]!.succeed();
      await first;
      await settled();
      expect(happened).toEqual(answerLast ? ['sent 1', 'sent 2', 'done 1'] : ['sent 1', 'done 1', 'sent 2']);
      groups[1]!.succeed();
      await second;
      await group.drain();
    }
  });

  it('lets few items wait for the group on its way, and takes them along when it has ended', async () => {
    const { groups, commit } = manualCommit();
    const group = createWith({ commit });
    const all = Promise.all([group.submit(0), settled().then(() => group.submit(1))]);
    await settled();
    await settled();
    expect(groups.map(({ items }) => items)).toEqual([[0]]);
    groups[0]!.succeed();
    await settled();
    expect(groups.map(({ items }) => items)).toEqual([[0], [1]]);
    groups[1]!.succeed();
    expect(await all).toEqual(['done 0', 'done 1']);
  });

  it('splits what is more than one group holds', async () => {
    const { groups, commit } = manualCommit();
    const group = createWith({ commit, maxGroup: 2 });
    const all = Promise.all(upTo(5).map((item) => group.submit(item)));
    for (let index = 0; index < 3; index++) {
      await settled();
      groups[index]!.succeed();
    }
    await all;
    expect(groups.map(({ items }) => items)).toEqual([[0, 1], [2, 3], [4]]);
  });

  it('lets a bad row fail alone', async () => {
    const committed: number[] = [];
    const group = createWith({
      commit: async (items) => {
        const bad = items.find((item) => item % 40 === 7);
        if (bad !== undefined) throw new BadRow(`row ${bad}`);
        committed.push(...items);
        return items.map(String);
      },
    });
    const outcomes = await Promise.allSettled(upTo(100).map((item) => group.submit(item)));
    const failed = outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [[index, outcome.reason.message]] : [],
    );
    expect(failed).toEqual([
      [7, 'row 7'],
      [47, 'row 47'],
      [87, 'row 87'],
    ]);
    expect(committed).toEqual(upTo(100).filter((item) => item % 40 !== 7));
  });

  it('asks after a lost answer which items made it', async () => {
    const lost = new Error('Connection terminated unexpectedly');
    const asked: unknown[] = [];
    const group = createWith({
      commit: async () => {
        throw lost;
      },
      recover: async (items, error) => {
        asked.push(error);
        return items.map((item) => (item < 2 ? `found ${item}` : undefined));
      },
    });
    const outcomes = await Promise.allSettled(upTo(4).map((item) => group.submit(item)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'found 0' },
      { status: 'fulfilled', value: 'found 1' },
      { status: 'rejected', reason: lost },
      { status: 'rejected', reason: lost },
    ]);
    expect(asked).toEqual([lost]);
  });

  it('gives the error of asking when that fails too, and goes on afterwards', async () => {
    const away = new Error('still away');
    let isLost = true;
    const group = createWith({
      commit: async (items) => {
        if (isLost) throw new Error('lost');
        return items.map(String);
      },
      recover: async () => {
        throw away;
      },
    });
    await expect(group.submit(1)).rejects.toBe(away);
    isLost = false;
    expect(await group.submit(2)).toBe('2');
  });

  it('refuses as overloaded what would wait beyond the bound', async () => {
    const { groups, commit } = manualCommit();
    const group = createWith({ commit, maxInFlight: 1, maxWaiting: 2 });
    const first = group.submit(0);
    await settled();
    const waiting = [group.submit(1), group.submit(2)];
    await expect(group.submit(3)).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    groups[0]!.succeed();
    await settled();
    groups[1]!.succeed();
    expect(await Promise.all([first, ...waiting])).toEqual(['done 0', 'done 1', 'done 2']);
  });

  it('refuses what would weigh too much with what waits, but never what nothing waits before', async () => {
    const { groups, commit } = manualCommit();
    const group = createWith({ commit, maxInFlight: 1, weigh: (item) => item, maxWeight: 10 });
    const first = group.submit(100);
    await settled();
    const waiting = [group.submit(50)];
    await expect(group.submit(1)).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    groups[0]!.succeed();
    await first;
    await settled();
    waiting.push(group.submit(6), group.submit(4));
    await expect(group.submit(1)).rejects.toMatchObject({ code: 'overloaded' });
    groups[1]!.succeed();
    await settled();
    groups[2]!.succeed();
    expect(await Promise.all(waiting)).toEqual(['done 50', 'done 6', 'done 4']);
  });

  it('drains: everything submitted is settled, then it is at rest', async () => {
    const finished: number[] = [];
    const group = createWith({
      maxGroup: 3,
      commit: async (items) => {
        await settled();
        finished.push(...items);
        return items.map(String);
      },
    });
    const all = upTo(20).map((item) => group.submit(item));
    await group.drain();
    expect(finished).toHaveLength(20);
    await Promise.all(all);
    await group.drain();
  });
});
