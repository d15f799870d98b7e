import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBehindWire, type BehindWire } from '../../test/behind-wire.ts';
import { sleep } from '../kit/retry.ts';
import { createAcceptor } from './accept.ts';
import { intake } from './harness.fixture.ts';

describe('operations/silent-database', () => {
  let at: BehindWire;

  beforeAll(async () => {
    at = await openBehindWire();
  });
  afterAll(() => at.close());

  it('an acceptance that is not answered is looked for once more, and no longer', async () => {
    const acceptor = createAcceptor(at.database);
    expect(await acceptor.accept(intake(), null)).toBeDefined();
    at.wire.cut('hang');
    const startedAt = performance.now();
    const first = acceptor.accept(intake(), null);
    await sleep(1_000);
    // It waits for the group before it, and no longer.
    const second = acceptor.accept(intake(), null);
    const fates = await Promise.allSettled([first, second]);
    // The first was on its way; the second was not sent.
    for (const [index, code] of ['outcome-unknown', 'database-unavailable'].entries())
      expect(fates[index]).toMatchObject({ status: 'rejected', reason: { code } });
    // Ten seconds for the statement, and five for the connection over which it is looked for.
    expect(performance.now() - startedAt).toBeLessThan(17_000);
    at.wire.heal();
    expect(await acceptor.accept(intake(), null)).toBeDefined();
  }, 60_000);
});
