import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBehindWire, type BehindWire } from '../../../../test/behind-wire.ts';
import { intake } from '../../../operations/harness.fixture.ts';
import { createGatherer } from './accept.ts';

describe('actions/write/auto-batch/doubt', () => {
  let at: BehindWire;

  beforeAll(async () => {
    at = await openBehindWire();
  });
  afterAll(() => at.close());

  const gatherer = () => createGatherer(at.database);
  const places = async () => at.test.database.raw('SELECT slot FROM record WHERE entry IS NOT NULL');
  /** What it is told whose record is stored when the database goes away. */
  async function whenLost(work: () => Promise<unknown>): Promise<unknown> {
    at.wire.loseWay('ab_insert');
    const fate: unknown = await work().catch((error: unknown) => error);
    at.wire.heal();
    return fate;
  }

  const { records, orderKeys: _, ...shared } = intake();
  const write = { ...shared, record: records[0]!, orderKey: null, maxDelaySeconds: 60 };

  it('names the batch that a record may stand in, where no key finds it', async () => {
    const { operationId } = await gatherer().accept(write);
    const before = (await places()).length;
    expect(await whenLost(() => gatherer().accept(write))).toMatchObject({
      code: 'outcome-unknown',
      retryable: false,
      details: { extra: { operationId, category: 'unknownOutcome' } },
    });
    expect(await places()).toHaveLength(before + 1);
  }, 30_000);

  it('has one with a key repeated, which finds it', async () => {
    const { operationId } = await gatherer().accept(write);
    const before = (await places()).length;
    const keyed = { ...write, key: { principal: 'key:1', key: randomUUID(), hash: Buffer.alloc(32) } };
    expect(await whenLost(() => gatherer().accept(keyed))).toMatchObject({
      code: 'database-unavailable',
      retryable: true,
      message: expect.stringContaining('not known whether the write was accepted') as string,
    });
    expect(await gatherer().accept(keyed)).toMatchObject({ operationId, replayed: true });
    expect(await places()).toHaveLength(before + 1);
  }, 30_000);
});
