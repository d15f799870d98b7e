import { beforeEach, describe, expect, it } from 'vitest';
import { aDestination } from '../deliveries/destination.fixture.ts';
import { statement } from '../kit/db/statement.ts';
import { transferOn } from './harness.fixture.ts';

const passphrase = 'correct horse battery staple';
const lockAudit = statement('test_lock_audit', 'LOCK TABLE audit_log IN SHARE MODE');

describe('transfer/deleted-destination', () => {
  const at = aDestination('inbox');
  let topicId: string;
  beforeEach(async () => {
    const { notifications } = at.world.deliveries;
    const { projectId } = at.world;
    topicId = (await notifications.createTopic(projectId, 'sales')).id;
    await notifications.routeEvent(projectId, { eventType: 'connection.created', topicId });
    await notifications.routeTopic(projectId, { topicId, destinationId: at.to });
    await notifications.set(projectId, [{ eventTypes: ['connection.deleted'], destination: 'inbox' }]);
  });

  const routes = () =>
    at.rows(`SELECT 'to a topic' AS route FROM event_topic_route WHERE project_id = $1
      UNION ALL SELECT 'of a topic' FROM topic_destination_route WHERE project_id = $1
      UNION ALL SELECT 'direct' FROM notification_route WHERE project_id = $1 ORDER BY route`);

  it.each([
    [
      'a destination',
      () => at.world.deliveries.destinations.delete(at.world.projectId, 'inbox', { cancelPending: false }),
      [{ route: 'to a topic' }],
    ],
    [
      'a topic',
      () => at.world.deliveries.notifications.deleteTopic(at.world.projectId, topicId),
      [{ route: 'direct' }],
    ],
  ])('deletes with %s the routes that are being imported', async (_of, remove, left) => {
    const { database } = at.world.ground;
    const { projectId } = at.world;
    const transfer = transferOn(database, at.world.ground);
    const { file } = await transfer.export({ id: projectId, name: 'default' }, { passphrase });
    for (const table of ['event_topic_route', 'topic_destination_route', 'notification_route'])
      await at.rows(`DELETE FROM ${table} WHERE project_id = $1`);
    const waiting = () =>
      database.raw(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
    const acting: Promise<unknown>[] = [];
    await database.transaction(async (tx) => {
      // The last that either writes.
      await tx.rows(lockAudit);
      acting.push(transfer.import(projectId, { passphrase, file }));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1);
      acting.push(remove());
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(2);
    });
    expect(await Promise.all(acting)).toMatchObject([
      { created: { eventTopicRoutes: 1, topicDestinationRoutes: 1, notificationRoutes: 1 } },
      undefined,
    ]);
    expect(await routes()).toEqual(left);
    await transfer.export({ id: projectId, name: 'default' }, { passphrase });
  });
});
