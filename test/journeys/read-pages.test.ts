import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { startReceiver, type Receiver } from '../receiver.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: inbox
          schedule: '*/10 * * * *'
          requiredFields: [{ fieldName: lastname }]
`;
/** Two pages of a search. */
const contacts = 250;

interface Feed {
  watermark: string;
  run: string | null;
  page: number | null;
}

describe('journeys/read-pages', () => {
  let test: TestDatabase;
  let platform: Platform;
  let receiver: Receiver;
  let customer: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
    platform = await startPlatform({ databaseUrl: test.url, records: 0 });
    await deploy(platform, manifest);
    await platform.call('POST', `/projects/${platform.projectId}/destinations`, {
      name: 'inbox',
      type: 'webhook',
      metadata: { url: receiver.url },
    });
    customer = await install(platform, 'hubspot-crm', 'g1', {
      read: { objects: { contacts: { objectName: 'contacts' } } },
    });
    await until(async () => (await feed()) !== undefined);
  });
  afterAll(async () => {
    await platform?.stop();
    await receiver?.close();
    await test?.drop();
  });

  async function feed(): Promise<Feed | undefined> {
    const [row] = await test.database.raw(
      `SELECT f.watermark::text, f.run_id AS run, r.page FROM read_feed f LEFT JOIN read_run r ON r.id = f.run_id
      WHERE f.installation_id = $1`,
      [customer.installationId],
    );
    return row as Feed | undefined;
  }

  async function refusals(): Promise<number> {
    const [row] = await test.database.raw('SELECT last_value::int AS count FROM refusals');
    return Number(row?.['count']);
  }

  /** Both clocks; the provider's first, so that nothing changes in what was read. */
  async function tick(): Promise<void> {
    const minutes = 11;
    await simulator(platform.hubspot, 'POST', '/clock', { advanceMs: minutes * 60_000 });
    await test.database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 minute'`, [minutes]);
  }

  it('moves neither its place nor the watermark before the messages of a page are stored, and delivers each record once', async () => {
    const names = Array.from({ length: contacts }, (_, at) => `name ${at}`);
    await simulator(platform.hubspot, 'POST', '/data', {
      object: 'contacts',
      records: names.map((lastname) => ({ properties: { lastname } })),
    });
    const before = await feed();
    await test.database.raw(`
      CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('refusals');
        RAISE EXCEPTION 'no room' USING ERRCODE = '53100';
      END $$;
      CREATE SEQUENCE refusals;
      CREATE TRIGGER no_room BEFORE INSERT ON message FOR EACH ROW WHEN (NEW.page = 2) EXECUTE FUNCTION no_room()`);
    await tick();
    await until(async () => (await refusals()) >= 3 || hasMoved(before, await feed()));
    expect(await feed()).toMatchObject({ watermark: before?.watermark, page: 1 });

    await test.database.raw('DROP TRIGGER no_room ON message');
    await until(async () => (await feed())?.watermark !== before?.watermark);
    await until(async () => receiver.entries().length >= contacts);
    await wait(500);
    const arrived = receiver.entries().map(({ fields }) => String(fields['lastname']));
    expect(arrived.toSorted()).toEqual(names.toSorted());
  }, 60_000);

  it('stores pages that come meanwhile together, and leaves the operation alone until its part is read', async () => {
    const read = receiver.entries().length;
    const names = Array.from({ length: 5 * contacts }, (_, at) => `further ${at}`);
    await simulator(platform.hubspot, 'POST', '/data', {
      object: 'contacts',
      records: names.map((lastname) => ({ properties: { lastname } })),
    });
    await test.database.raw(`
      CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$;
      CREATE TRIGGER slowly BEFORE INSERT ON message FOR EACH ROW WHEN (NEW.page = 1) EXECUTE FUNCTION slowly();
      CREATE SEQUENCE moves;
      CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('moves'); RETURN NULL; END $$;
      CREATE TRIGGER moved AFTER UPDATE ON operation FOR EACH ROW WHEN (NEW.total <> OLD.total) EXECUTE FUNCTION moved()`);
    await tick();
    await until(async () => receiver.entries().length >= read + names.length);
    await until(async () => (await feed())?.run === null);
    const arrived = receiver.entries().slice(read);
    expect(arrived.map(({ fields }) => String(fields['lastname'])).toSorted()).toEqual(names.toSorted());
    const [{ pages, commits, operation } = {}] = await test.database.raw(
      `SELECT max(page) AS pages, count(DISTINCT xmin::text)::int AS commits, operation_id AS operation
      FROM message GROUP BY operation_id ORDER BY max(id::text) DESC LIMIT 1`,
    );
    expect(pages).toBe(Math.ceil(names.length / 200));
    expect(commits).toBeLessThan(Number(pages));
    const [{ moves } = {}] = await test.database.raw('SELECT last_value::int AS moves FROM moves');
    expect(Number(moves)).toBeLessThan(Number(pages));
    await until(async () => {
      const { body } = await platform.call<{ metadata: { read: object } }>(
        'GET',
        `/projects/${platform.projectId}/operations/${String(operation)}`,
      );
      const { emitted, delivered } = body.metadata.read as { emitted: number; delivered: number };
      return emitted === names.length && delivered === names.length;
    });
  }, 60_000);

  it('keeps no page for a destination that was deleted elsewhere, and goes on with the one of its name', async () => {
    const names = Array.from({ length: 5 * contacts }, (_, at) => `more ${at}`);
    await simulator(platform.hubspot, 'POST', '/data', {
      object: 'contacts',
      records: names.map((lastname) => ({ properties: { lastname } })),
    });
    // Gone with the first page, and this node remembers it for a while.
    await test.database.raw(`
      CREATE FUNCTION vanish() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM destination WHERE id = NEW.destination_id;
        RETURN NEW;
      END $$;
      CREATE TRIGGER vanish BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION vanish()`);
    await tick();
    await until(async () => (await destinations()) === 0);
    const run = (await feed())?.run;
    await wait(3_000);
    await test.database.raw('DROP TRIGGER vanish ON message');
    const made = await platform.call('POST', `/projects/${platform.projectId}/destinations`, {
      name: 'inbox',
      type: 'webhook',
      metadata: { url: receiver.url },
    });
    expect(made.status).toBe(201);
    await until(async () => (await feed())?.run === null);
    const [{ former, commits } = {}] = await test.database.raw(
      `SELECT sum(records)::int AS former, count(DISTINCT xmin::text)::int AS commits FROM message
      WHERE operation_id = $1 AND destination_id NOT IN (SELECT id FROM destination)`,
      [run],
    );
    expect([commits, Number(former) < names.length]).toEqual([1, true]);
    const wanted = new Set(names);
    const arrived = () =>
      new Set(
        receiver
          .entries()
          .map(({ fields }) => String(fields['lastname']))
          .filter((name) => wanted.has(name)),
      );
    await until(async () => arrived().size >= names.length - Number(former));
  }, 60_000);

  async function destinations(): Promise<number> {
    return (await test.database.raw('SELECT FROM destination')).length;
  }
});

/** Further than the first page. */
function hasMoved(before: Feed | undefined, now: Feed | undefined): boolean {
  return now?.watermark !== before?.watermark || (now?.page ?? 0) > 1;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error('it never came to be');
    await wait(50);
  }
}
