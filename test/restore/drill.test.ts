import { dirname } from 'node:path';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, fault, install, simulator, type Customer } from '../customer.ts';
import { startPlatform, type Platform } from '../platform.ts';
import {
  archivedLog,
  createPostgres,
  findPostgres,
  keepBackup,
  restoreTo,
  type PostgresServer,
} from '../postgres-server.ts';
import { operate, startHeld } from './operator.ts';

const bin = findPostgres();

/** What a caller knows of a write: its id, and by what its effect is found at the provider. */
interface Promised {
  id: string;
  mark: string;
  kind: 'create' | 'update' | 'upsert';
  before: boolean;
}

describe.skipIf(!bin)('test/restore/drill (skipped where there is no pg_basebackup)', () => {
  let server: PostgresServer;
  let restored: PostgresServer;
  let backup = '';
  let archive = '';
  let platform: Platform;
  let customer: Customer;
  const promised: Promised[] = [];

  beforeAll(async () => {
    server = await createPostgres(bin ?? '');
    platform = await startPlatform({ databaseUrl: server.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'group-1');
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await server?.remove();
    await restored?.remove();
    if (archive !== '') await rm(dirname(archive), { recursive: true, force: true });
  });

  const accept = async (
    kind: Promised['kind'],
    count: number,
    before: boolean,
    recordId: string,
  ): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const mark = `m${promised.length}-${kind}`;
      const record = kind === 'update' ? { id: recordId, firstname: mark } : { email: `${mark}@example.com` };
      const { body } = await customer.write('contacts', {
        type: kind,
        mode: 'asynchronous',
        record,
        ...(kind === 'upsert' ? { upsertBy: 'email' } : {}),
      });
      promised.push({ id: body.operationId, mark, kind, before });
    }
  };
  /** Effects at the provider by what they carry. */
  const marks = async (): Promise<string[]> =>
    (await effects(platform.hubspot, 'contacts')).flatMap(({ fields }) =>
      promised.flatMap(({ mark }) =>
        [fields['email'], fields['firstname']].some(
          (value) => String(value).startsWith(`${mark}@`) || value === mark,
        )
          ? [mark]
          : [],
      ),
    );

  it('restored to a point in time on another server, nothing promised before it is lost and nothing is blindly sent again', async () => {
    const made = await customer.write('contacts', { type: 'create', record: { email: 'first@example.com' } });
    const recordId = made.body.result?.recordId ?? '';
    backup = await keepBackup(bin ?? '', server);
    await accept('create', 10, true, recordId);
    await accept('update', 10, true, recordId);
    for (const { id } of promised) await customer.settled(id);
    // Accepted before the point, and done after it.
    await fault(platform.hubspot, { path: '/crm/', times: 10_000, fault: { kind: 'status', status: 503 } });
    await accept('create', 20, true, recordId);
    await accept('update', 20, true, recordId);
    await accept('upsert', 20, true, recordId);
    await server.sql(`SELECT pg_create_restore_point('drill')`);
    await simulator(platform.hubspot, 'DELETE', '/faults');
    await accept('create', 10, false, recordId);
    for (const { id } of promised.slice(0, 40)) await customer.settled(id, 40_000);
    archive = await archivedLog(server);
    platform.process().kill('SIGKILL');
    await server.kill();
    const sent = await marks();

    restored = await restoreTo(bin ?? '', backup, { archive, point: 'drill' });
    const held = await startHeld(restored.url, { SVC_FAILOVER_MS: '0' });
    expect(held.child.said()).toContain('it was recovered');
    await held.child.end('SIGTERM');
    const { said, code } = await operate(restored.url, 'restore', 'resume');
    expect([code, said]).toEqual([
      0,
      expect.stringContaining('40 unfinished writes ended with an unknown outcome'),
    ]);
    await platform.restart('SIGKILL', { DATABASE_URL: restored.url });

    const asked = await Promise.all(
      promised.map(({ id }) => platform.call('GET', `/projects/default/operations/${id}`)),
    );
    expect(asked.map(({ status }) => status)).toEqual(promised.map(({ before }) => (before ? 200 : 404)));
    const kept = promised.filter(({ before }) => before);
    const ends = [];
    for (const { id, kind } of kept) ends.push({ kind, ...(await customer.settled(id, 40_000)) });
    // Of the updates only those that were done before the restore point are known.
    const ended = ends.map(({ kind, status, errors }) =>
      `${kind} ${status} ${errors?.[0]?.category ?? ''}`.trim(),
    );
    expect(ended).toEqual([
      ...Array(10).fill('create success'),
      ...Array(10).fill('update success'),
      ...Array(20).fill('create success'),
      ...Array(20).fill('update failure unknownOutcome'),
      ...Array(20).fill('upsert failure unknownOutcome'),
    ]);
    const after = await marks();
    const again = after.filter((mark, at) => after.indexOf(mark) !== at);
    expect(again).toEqual([]);
    const added = after.filter((mark) => !sent.includes(mark));
    // What had not reached the provider by the end of the old server: creates only, after a look.
    expect(added.filter((mark) => !mark.endsWith('create'))).toEqual([]);
  }, 180_000);
});
