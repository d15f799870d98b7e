import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { keepPartitions } from '../kit/db/partitions.ts';
import { newId } from '../kit/ids.ts';
import { createLog } from '../kit/log.ts';
import { decode } from './encoding.ts';
import {
  createMessageKeeper,
  cutMessages,
  keepMessages,
  messagePartitions,
  type Envelope,
  type MessageEntry,
  type NewMessage,
} from './index.ts';
import { hashOf, mostBodyBytes, recordKeysIn } from './messages.ts';

const ids = { projectId: newId(), installationId: newId(), destinationId: newId(), operationId: newId() };
const envelope: Envelope = {
  readType: 'scheduled',
  action: 'read',
  projectId: ids.projectId,
  provider: 'hubspot',
  groupRef: 'acme',
  groupName: 'Acme',
  consumerRef: 'ann',
  consumerName: 'Ann “O’Neil”',
  installationId: ids.installationId,
  installationUpdateTime: '2026-01-02T03:04:05.678Z',
  objectName: 'people',
  rawObjectName: 'contacts',
  operationId: ids.operationId,
};
const origin = { ...ids, groupRef: 'acme', object: 'people', page: 3, publicUrl: 'https://svc.example.com' };

const entry = (id: string, json: string, deleted = false): MessageEntry => ({
  json,
  key: { id, version: '7', deleted },
});
const sized = (id: string, bytes: number): MessageEntry => entry(id, JSON.stringify('ü'.repeat(bytes / 2)));
const bodyOf = async ({ body, encoding }: NewMessage): Promise<string> =>
  (await decode(body, encoding)).toString();

describe('deliveries/messages', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it('has the members in their order and the records as the text that they came as', async () => {
    const given = [
      entry('1', '{"raw":{"n":1.50,"big":12345678901234567890}}'),
      entry('2', '{"raw":{}}', true),
    ];
    const [message, ...others] = await cutMessages(envelope, given, origin);
    expect(others).toEqual([]);
    expect(await bodyOf(message!)).toBe(
      `{"action":"read","projectId":"${ids.projectId}","provider":"hubspot","groupRef":"acme","groupName":"Acme",` +
        `"consumerRef":"ann","consumerName":"Ann “O’Neil”","installationId":"${ids.installationId}",` +
        `"installationUpdateTime":"2026-01-02T03:04:05.678Z","objectName":"people","rawObjectName":"contacts",` +
        `"operationId":"${ids.operationId}","readType":"scheduled","resultInfo":{"type":"inline","numRecords":2},` +
        `"result":[{"raw":{"n":1.50,"big":12345678901234567890}},{"raw":{}}]}`,
    );
    expect(recordKeysIn(message!.keys)).toEqual(given.map(({ key }) => key));
  });

  it('no body is longer than the limit in bytes, none is cut earlier than it must, and every record is there once', async () => {
    const given = Array.from({ length: 100 }, (_, at) => sized(String(at), 2_000 + at * 200));
    const messages = await cutMessages(envelope, given, origin);
    const bodies = await Promise.all(messages.map(bodyOf));
    const results = bodies.map((body) => (JSON.parse(body) as { result: string[] }).result);
    for (const [at, body] of bodies.entries()) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(mostBodyBytes);
      expect(messages[at]).toMatchObject({
        slice: at,
        bytes: Buffer.byteLength(body),
        records: results[at]!.length,
      });
      const next = results[at + 1]?.[0] ?? 'x'.repeat(mostBodyBytes);
      expect(Buffer.byteLength(body + next)).toBeGreaterThan(mostBodyBytes - 200);
    }
    expect(results.flat()).toEqual(given.map(({ json }) => JSON.parse(json) as unknown));
    expect(messages.flatMap(({ keys }) => recordKeysIn(keys).map(({ id }) => id))).toEqual(
      given.map(({ key }) => key.id),
    );
  });

  it('links to a record that is too large, by a secret of which the hash is kept', async () => {
    const messages = await cutMessages(
      envelope,
      [entry('1', '{}'), sized('2', 400_000), entry('3', '{}')],
      origin,
    );
    const [before, large, after] = await Promise.all(
      messages.map(async (message) => JSON.parse(await bodyOf(message)) as Record<string, any>), // oxlint-disable-line typescript/no-explicit-any -- a body
    );
    expect([before!['resultInfo'].type, after!['resultInfo'].type]).toEqual(['inline', 'inline']);
    expect(large).not.toHaveProperty('result');
    expect(large!['resultInfo']).toMatchObject({ type: 'url', numRecords: 1 });
    const link = new URL(large!['resultInfo'].downloadUrl as string);
    const { id, linkHash, result, encoding } = messages[1]!;
    expect(link.origin + link.pathname).toBe(`https://svc.example.com/v1/messages/${id}/result`);
    expect(link.searchParams.get('projectId')).toBe(ids.projectId);
    const secret = link.searchParams.get('secret')!;
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    expect(linkHash).toEqual(hashOf(secret));
    expect(JSON.parse((await decode(result!, encoding)).toString())).toEqual(['ü'.repeat(200_000)]);
  });

  it('are kept with their work and a wake of the lane of their destination, in their order', async () => {
    const given = [entry('1', '{"a":1}'), sized('2', 400_000), entry('3', `{"b":"${'x'.repeat(3_000)}"}`)];
    const messages = await cutMessages(envelope, given, origin);
    await keepMessages(test.database, messages);
    const rows = await test.database.raw(
      `SELECT m.*, w.lane_id, w.kind, w.state, w.due_at <= svc_now() AS due, w.deadline - svc_now() > interval '30 days' AS lasts
      FROM message m JOIN work w ON w.project_id = m.project_id AND w.ref = m.id ORDER BY m.seq`,
    );
    expect(rows.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    for (const [at, row] of rows.entries()) {
      const { body, result, linkHash, encoding } = messages[at]!;
      expect(row).toMatchObject({
        project_id: ids.projectId,
        operation_id: ids.operationId,
        installation_id: ids.installationId,
        destination_id: ids.destinationId,
        group_ref: 'acme',
        object: 'people',
        page: 3,
        slice: at,
        records: 1,
        encoding,
        body,
        result,
        link_hash: linkHash,
        lane_id: ids.destinationId,
        kind: 'delivery',
        state: 0,
        due: true,
        lasts: true,
      });
    }
    expect(
      await test.database.raw('SELECT lane_id FROM wake WHERE project_id = $1', [ids.projectId]),
    ).toEqual([{ lane_id: ids.destinationId }]);
  });

  it('stand in a partition of their day; one of a day without partition is moved when its day is made', async () => {
    const [message] = await cutMessages({ ...envelope }, [entry('1', '{}')], origin);
    const ahead = Date.now() + 8 * 86_400_000;
    const id = `${ahead
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}${randomUUID().slice(13)}`;
    await keepMessages(test.database, [message!, { ...message!, id }]);
    const placeOf = async (of: string) =>
      (
        await test.database.raw('SELECT tableoid::regclass::text AS place FROM message WHERE id = $1', [of])
      )[0]?.['place'];
    expect(await placeOf(message!.id)).toMatch(/^message_\d{8}$/);
    expect(await placeOf(id)).toBe('message_default');
    for (const table of messagePartitions) await keepPartitions(test.database, [{ ...table, ahead: 8 }]);
    expect(await placeOf(id)).toMatch(/^message_\d{8}$/);
  });

  it('go with the partitions of days that are over', async () => {
    const old = new Date(Date.now() - 3 * 86_400_000);
    const suffix = old.toISOString().slice(0, 10).replaceAll('-', '');
    for (const table of ['message', 'delivery'])
      await test.database.raw(
        `CREATE TABLE ${table}_${suffix} PARTITION OF ${table} FOR VALUES FROM (svc_uuid_floor('${old.toISOString().slice(0, 10)}'::date))
        TO (svc_uuid_floor('${old.toISOString().slice(0, 10)}'::date + 1))`,
      );
    const parts = async () =>
      (
        await test.database.raw(
          `SELECT relname FROM pg_class WHERE relname ~ '^(message|delivery)_${suffix}$'`,
        )
      ).length;
    const keep = async (days: number) => {
      const keeper = createMessageKeeper({ database: test.database, log: createLog('silent') }, days);
      keeper.start();
      await keeper.stop();
    };
    await keep(3);
    expect(await parts()).toBe(2);
    await keep(2);
    expect(await parts()).toBe(0);
  });
});
