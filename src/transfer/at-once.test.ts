import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { transferOn } from './harness.fixture.ts';
import type { Transfer } from './transfer.ts';

const passphrase = 'correct horse battery staple';
const projectOf = (at: number) => ({ id: `01920000-0000-7000-8000-00000000000${at}`, name: `project-${at}` });

describe('transfer/at-once', () => {
  let test: TestDatabase;
  let transfer: Transfer;
  beforeAll(async () => {
    test = await createTestDatabase();
    transfer = transferOn(test.database);
  });
  afterAll(() => test?.drop());

  it('exports and imports one project at a time, lets two more wait, and refuses the others', async () => {
    const { file } = await transfer.export(projectOf(1), { passphrase });
    const request = { passphrase, file, dryRun: true };
    const begun: Promise<unknown>[] = [
      transfer.import(projectOf(1).id, request),
      transfer.import(projectOf(1).id, request),
      transfer.import(projectOf(1).id, request),
      transfer.export(projectOf(2), { passphrase }),
      transfer.export(projectOf(3), { passphrase }),
    ];
    const answers = await Promise.allSettled(begun);
    const done = { status: 'fulfilled' };
    const refused = { reason: { code: 'overloaded', details: { retryAfterSeconds: 10 } } };
    expect(answers).toMatchObject([done, done, refused, done, refused]);
    expect(await transfer.import(projectOf(1).id, request)).toMatchObject({ dryRun: true });
  });
});
