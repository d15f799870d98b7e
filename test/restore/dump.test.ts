import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/kit/db/database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { createPostgres, findPostgres, type PostgresServer } from '../postgres-server.ts';
import { operate, startHeld } from './operator.ts';

const bin = findPostgres();
const run = promisify(execFile);

/** In the database of the URL; `sql` of the server is in another one. */
async function sql(url: string, text: string): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc test' });
  await database.raw(text);
  await database.close();
}

describe.skipIf(!bin)('test/restore/dump (skipped where there is no pg_basebackup)', () => {
  const file = join(tmpdir(), `svc-dump-${process.pid}`);
  let server: PostgresServer;
  let platform: Platform;

  beforeAll(async () => {
    server = await createPostgres(bin ?? '');
    platform = await startPlatform({ databaseUrl: server.url });
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await server?.remove();
    await rm(file, { force: true });
  });

  it('a dump that was restored into the database that it was made of is held until it is resumed', async () => {
    await run(join(bin ?? '', 'pg_dump'), ['-Fc', '-f', file, server.url]);
    await platform.stop();
    await sql(server.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await run(join(bin ?? '', 'pg_restore'), ['--exit-on-error', '-d', server.url, file]);
    const held = await startHeld(server.url);
    expect(held.child.said()).toContain('dump');
    await held.child.end('SIGTERM');
    expect((await operate(server.url, 'restore', 'resume')).code).toBe(0);
    expect((await operate(server.url, 'restore', 'resume')).said).toContain('is not held');
  }, 90_000);
});
