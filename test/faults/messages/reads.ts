import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/kit/db/database.ts';
import { connect, deploy, simulator } from '../../customer.ts';
import { patiently } from '../suite/processes.ts';
import { chaosIn } from './chaos.ts';
import {
  beSilent,
  breakPages,
  changeContacts,
  contactsAt,
  seedContacts,
  type Changes,
  type Links,
} from './contacts.ts';
import { createReadLedger, type Arrivals } from './read-ledger.ts';
import { judgeReads } from './read-verdict.ts';
import type { Findings } from './report.ts';
import type { ReadSettings } from './settings.ts';
import {
  addWarehouse,
  addWebhooks,
  ask,
  openWorld,
  passTime,
  restsFor,
  whatIsLeft,
  type RunOptions,
  type World,
} from './world.ts';

/** For what is left to be read when the faults are over. */
const drainMs = 120_000;
const drainMsPerContact = 12;
/** The provider's changes show within this time. */
const lagMs = 120_000;

const integration = (destination: string): string => `
  - name: to-${destination}
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToName: people
          destination: ${destination}
          schedule: '*/10 * * * *'
          requiredFields: [{ fieldName: email }, { fieldName: lastname, mapToName: surname }]
          backfill: { defaultPeriod: { fullHistory: true } }
          deletedRecords: { enabled: always }
          associations: { objects: [companies], schedule: '0 * * * *' }`;
const manifest = `specVersion: 1.0.0\nintegrations:${integration('hook')}${integration('table')}\n`;

/**
 * History and scheduled runs of contacts that change while they are read, into a webhook and into a table, while the provider
 * fails, the clock moves, and nodes and their database die.
 */
export async function runReads(settings: ReadSettings, options: RunOptions): Promise<Findings> {
  const { receiverFaults: faultRate, seed } = settings;
  const ledger = createReadLedger();
  const onMessage = ledger.add;
  const world = await openWorld(settings, { endpoints: 1, faultRate, seed, onMessage }, options);
  try {
    await seedContacts(world.hubspot, settings);
    await addWebhooks(world, () => 'hook');
    const { warehouse, wire } = await addWarehouse(world, 'table');
    const installations = await installAll(world);
    options.say('ready');
    const over = new AbortController();
    const isOver = (): boolean => over.signal.aborted;
    const losing = setInterval(() => wire.loseCommit(), 3_000);
    const chaos = chaosIn(world, settings, {
      outage: (forMs) => beSilent(world.hubspot, settings, forMs),
      over: isOver,
    });
    await breakPages(world.hubspot, settings);
    let changes: Changes | undefined;
    const linked: Links = new Map();
    const tickAll = async (): Promise<void> => {
      for (let ticks = 0; ticks < settings.ticks || !chaos.enough(); ticks += 1) {
        await sleep(settings.tickMs);
        await tick(world);
        options.say(`${ticks + 1} ticks, ${ledger.size()} versions arrived, ${chaos.deeds.kills} kills`);
      }
      over.abort();
    };
    const change = async (): Promise<void> => {
      changes = await changeContacts(world.hubspot, settings, linked, isOver);
    };
    try {
      await Promise.all([chaos.run(), tickAll(), change(), watchTable(warehouse, isOver)]);
    } finally {
      over.abort();
      clearInterval(losing);
    }
    world.receiver.calm();
    await simulator(world.hubspot, 'DELETE', '/faults');
    const left = await drain(world, drainMs + settings.contacts * drainMsPerContact);
    options.say('drained; comparing the ledgers');
    const contacts = await contactsAt(world.hubspot);
    const found = await judgeReads(world, { ledger, warehouse, installations, linked }, contacts);
    return { ...found, counts: { ...found.counts, ...changes }, deeds: chaos.deeds, left };
  } finally {
    await world.close();
  }
}

async function installAll({ platform }: World): Promise<Arrivals['installations']> {
  await deploy(platform, manifest);
  const install = async (destination: string): Promise<string> => {
    await connect(platform, 'hubspot', destination);
    const content = { provider: 'hubspot', read: { objects: { contacts: { objectName: 'contacts' } } } };
    const path = `/projects/${platform.projectId}/integrations/to-${destination}/installations`;
    const body = { groupRef: destination, config: { content } };
    return (await ask<{ id: string }>(platform, 'POST', path, body)).id;
  };
  return { hook: await install('hook'), table: await install('table') };
}

/** Every change of a row of the table is kept beside it, from soon after the table is made. */
async function watchTable(warehouse: Database, isOver: () => boolean): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const [row] = await warehouse.raw(`SELECT to_regclass('crm.people') IS NOT NULL AS is`).catch(() => []);
    return row?.['is'] === true;
  };
  while (!isOver() && !(await isThere())) await sleep(50);
  await patiently(() =>
    warehouse.raw(`BEGIN;
      CREATE TABLE crm.history (n bigint GENERATED ALWAYS AS IDENTITY, record_id text, version text);
      CREATE FUNCTION crm.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO crm.history (record_id, version) VALUES (NEW.record_id, NEW._svc_version);
        RETURN NULL;
      END $$;
      LOCK TABLE crm.people IN SHARE ROW EXCLUSIVE MODE;
      INSERT INTO crm.history (record_id, version) SELECT record_id, _svc_version FROM crm.people;
      CREATE TRIGGER note AFTER INSERT OR UPDATE ON crm.people FOR EACH ROW EXECUTE FUNCTION crm.note();
      COMMIT`),
  );
}

const shortlyMs = 1_500;

/** Moves the clock to shortly before the next tick, whatever is under way. */
async function tick(world: World): Promise<void> {
  const ms = (await nextTick(world)) - shortlyMs;
  if (ms > 0) await passTime(world, ms);
}

/** Milliseconds until the next scheduled run begins. */
async function nextTick({ database }: World): Promise<number> {
  const [row] = await patiently(() =>
    database.raw(
      `SELECT extract(epoch FROM min(next_at) - svc_now())::float8 * 1000 AS ms FROM read_feed WHERE next_at < 'infinity'`,
    ),
  );
  return Number(row?.['ms'] ?? 0);
}

/** Without faults and changes, until everything that changed was read and nothing waits. */
async function drain(world: World, forMs: number): Promise<string[]> {
  const changedUntil = await providerTime(world);
  const giveUpAt = performance.now() + forMs;
  for (;;) {
    const left = await whatIsLeft(world);
    const isRead = left.length === 0 && (await watermark(world)) > changedUntil + lagMs;
    if (isRead || performance.now() > giveUpAt) return left;
    const ms = left.length === 0 ? await nextTick(world) : await restsFor(world);
    if (ms !== undefined && ms > 0) await passTime(world, ms);
    await sleep(500);
  }
}

async function providerTime({ hubspot }: World): Promise<number> {
  return Date.parse((await simulator<{ now: string }>(hubspot, 'GET', '/health')).now);
}

/** Until when everything was read, in milliseconds. */
async function watermark({ database, platform }: World): Promise<number> {
  const [row] = await patiently(() =>
    database.raw(
      'SELECT extract(epoch FROM min(watermark))::float8 * 1000 AS ms FROM read_feed WHERE project_id = $1',
      [platform.projectId],
    ),
  );
  return Number(row?.['ms'] ?? 0);
}
