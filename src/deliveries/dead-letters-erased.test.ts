import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import type { Erased } from '../kit/db/erasing.ts';
import { firstIdAt } from '../kit/ids.ts';
import { aDestination } from './destination.fixture.ts';
import { eventually } from './harness.fixture.ts';
import { eraseMessages } from './store/erase.ts';

describe('deliveries, of whose messages some were erased', () => {
  const at = aDestination('mine', { timeoutMs: 5_000 });

  const works = () => at.rows('SELECT FROM work WHERE project_id = $1');
  const replays = async () =>
    (await at.world.deliveries.replays.list(at.world.projectId, { pageSize: 10 })).results;
  const over = (id = '') =>
    eventually(
      () => at.world.deliveries.replays.get(at.world.projectId, id),
      ({ status }) => status !== 'running',
    );
  const erase = (): Promise<Erased> => {
    const askedAt = new Date(Date.now() + 60_000).toISOString();
    const after = '00000000-0000-0000-0000-000000000000';
    const slice = { groupRef: null, after, until: firstIdAt(askedAt), askedAt };
    return eraseMessages(at.test.database, { projectId: at.world.projectId, ...slice }, 1_000);
  };
  /** As messages that ran out of attempts, of which the oldest `gone` have no message any more: a release before this one kept such. */
  const makeDead = async (count: number, gone: number): Promise<void> => {
    const [sample] = await at.world.messages(at.to, 1);
    await at.world.queue(at.to, 1, { id: sample?.id ?? '' });
    await at.world.rows(
      `WITH made AS (
        INSERT INTO message (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
        SELECT project_id, (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, installation_id, group_ref, object, destination_id, page, slice,
          records, bytes, encoding, body, keys FROM message, generate_series(1, $2::int) n WHERE project_id = $1 RETURNING id)
      INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
      SELECT $1, id, $3, 'failed', 'failed', 10, now(), now() FROM made`,
      [at.world.projectId, count, at.to],
    );
    await at.rows(`DELETE FROM work WHERE project_id = $1`);
    await at.world.rows(
      `DELETE FROM message WHERE project_id = $1 AND (id = $3 OR id IN (
        SELECT message_id FROM delivery WHERE project_id = $1 ORDER BY message_id LIMIT $2))`,
      [at.world.projectId, gone, sample?.id],
    );
  };

  it('an erasure while the last attempt is under way leaves no delivery behind', async () => {
    await at.world.queue(at.to, 1);
    await at.rows('UPDATE work SET attempt = 9 WHERE project_id = $1');
    let answer: (() => void) | undefined;
    at.receiver.answer = (response) => (answer = () => void response.writeHead(500).end('of a customer'));
    await at.world.work();
    await eventually(
      () => answer !== undefined,
      (came) => came,
    );
    expect(await erase()).toMatchObject({ scanned: 1 });
    answer?.();
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(await at.rows('SELECT status FROM delivery WHERE project_id = $1')).toEqual([]);
    expect(
      await at.rows('SELECT dead_letters::int AS dead, dead_since FROM destination WHERE project_id = $1'),
    ).toEqual([{ dead: 0, dead_since: null }]);
  });

  it('an erasure that is asked for before an end is recorded, and goes on beside it, leaves no delivery behind', async () => {
    await at.world.queue(at.to, 1);
    await at.rows('UPDATE destination SET failing_since = svc_now() WHERE project_id = $1');
    let answer: (() => void) | undefined;
    at.receiver.answer = (response) => (answer = () => void response.writeHead(204).end());
    await at.world.work();
    await eventually(
      () => answer !== undefined,
      (came) => came,
    );
    await at.rows(
      `INSERT INTO erasure (project_id, id, group_ref, until, place)
       VALUES ($1, gen_random_uuid(), NULL, svc_uuid_floor(svc_now() + interval '1 minute'), '00000000-0000-0000-0000-000000000000')`,
    );
    const client = new Client({ connectionString: at.test.url });
    await client.connect();
    try {
      // The record has read the message, and waits for the destination, which works again.
      await client.query('BEGIN');
      await client.query('SELECT FROM destination WHERE project_id = $1 FOR UPDATE', [at.world.projectId]);
      answer?.();
      const waiting = () =>
        at.rows(`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND $1::uuid IS NOT NULL`);
      expect(await eventually(waiting, (blocked) => blocked.length > 0)).toHaveLength(1);
      expect(await erase()).toMatchObject({ scanned: 1 });
    } finally {
      await client.end();
    }
    expect(await eventually(works, (left) => left.length === 0)).toEqual([]);
    expect(await at.rows('SELECT status FROM delivery WHERE project_id = $1')).toEqual([]);
  });

  it('enabling replays those whose messages are kept, behind others that are not', async () => {
    await makeDead(3, 1);
    await at.world.work();
    await at.world.deliveries.destinations.enable(at.world.projectId, 'mine');
    const [replay, ...others] = await replays();
    expect(others).toEqual([]);
    expect(await over(replay?.id)).toMatchObject({ status: 'done', progress: { queued: 2, delivered: 2 } });
    expect(at.receiver.received).toHaveLength(2);
    await at.world.deliveries.destinations.enable(at.world.projectId, 'mine');
    expect(await replays()).toHaveLength(1);
  });

  it('a replay of what failed does not end at one without a message', async () => {
    await makeDead(1_003, 1);
    const { replayId, count } = await at.world.deliveries.replays.start(at.world.projectId, {
      filter: { destination: at.to, status: 'failed' },
    });
    expect(count).toBe(1_002);
    await at.world.work();
    expect(await over(replayId)).toMatchObject({
      status: 'done',
      progress: { queued: 1_002, delivered: 1_002, failed: 0 },
    });
  });
});
