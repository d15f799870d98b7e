import { Client } from 'pg';
import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { contactOf, entryOf } from '../contacts.ts';
import {
  keepEach,
  makeDestinations,
  setHeld,
  type DestinationLane,
  type MessageParts,
} from '../deliveries.ts';
import { scaled, type Figure } from '../figure.ts';
import { makeDatabase } from '../postgres.ts';
import { untilDone } from '../queue.ts';
import { startServer, startStage } from '../stage.ts';

const rows = scaled(50_000);
const perMessage = 100;
const perStatement = 500;
const version = '2026-01-01T00:00:00.000Z';

interface Warehouse {
  client: Client;
  metadata: object;
  secrets: object;
  close(): Promise<void>;
}

/** A customer's database on a server of its own, reached by TCP. */
async function startWarehouse(): Promise<Warehouse> {
  const made = await makeDatabase();
  const wire = await startServer('wire.ts', made.url);
  const near = new URL(made.url);
  near.searchParams.delete('host');
  near.host = `127.0.0.1:${wire.port}`;
  const client = new Client({ connectionString: near.href });
  await client.connect();
  await client.query('CREATE SCHEMA crm');
  return {
    client,
    metadata: {
      url: `postgresql://${near.username}@${near.host}${near.pathname}?sslmode=disable`,
      schema: 'crm',
    },
    secrets: { password: decodeURIComponent(near.password) },
    async close() {
      await client.end();
      await wire.close();
      await made.close();
    },
  };
}

const idOf = (n: number): string => String(100_000_000_000 + n);

function* messages(to: DestinationLane): Generator<MessageParts> {
  for (let from = 0; from < rows; from += perMessage)
    yield {
      to,
      entries: Array.from({ length: Math.min(perMessage, rows - from) }, (_, n) => ({
        json: JSON.stringify(entryOf(contactOf(from + n))),
        key: { id: idOf(from + n), version, deleted: false },
      })),
    };
}

/** Rows a second until every delivery is recorded. */
async function deliverRows(database: Database, lane: DestinationLane): Promise<number> {
  await setHeld(database, [lane], true);
  await keepEach(database, messages(lane));
  const startedAt = performance.now();
  await setHeld(database, [lane], false);
  await untilDone(database, [lane], { everyMs: 20, withinMs: 300_000 });
  return rows / ((performance.now() - startedAt) / 1000);
}

const bareColumns = [
  'installation_id',
  'record_id',
  '_svc_version',
  '_svc_seq',
  '_svc_deleted',
  '_svc_group_ref',
  '_svc_synced_at',
  'fields',
  'raw',
  'mail',
  'given',
  'family',
  'title',
  'employer',
];

/** The same columns and values, made before the time begins. */
async function insertRows(client: Client): Promise<number> {
  await client.query('DROP TABLE IF EXISTS crm.bare');
  await client.query('CREATE TABLE crm.bare (LIKE crm.contacts INCLUDING ALL)');
  const statements: unknown[][] = [];
  for (let from = 0; from < rows; from += perStatement) statements.push(valuesFrom(from));
  const text = `INSERT INTO crm.bare (${bareColumns.join(', ')})
    SELECT 'i', r.id, '${version}', 1, false, 'g', now(), r.fields::jsonb, r.raw::jsonb, r.c0, r.c1, r.c2, r.c3, r.c4
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
      AS r(id, fields, raw, c0, c1, c2, c3, c4)`;
  const startedAt = performance.now();
  for (const values of statements) await client.query({ name: 'bench-bare', text, values });
  return rows / ((performance.now() - startedAt) / 1000);
}

function valuesFrom(from: number): unknown[] {
  const numbers = Array.from({ length: Math.min(perStatement, rows - from) }, (_, n) => from + n);
  const entries = numbers.map((n) => entryOf(contactOf(n)));
  return [
    numbers.map(idOf),
    entries.map(({ fields }) => JSON.stringify(fields)),
    entries.map(({ raw }) => JSON.stringify(raw)),
    ...['mail', 'given', 'family', 'title', 'employer'].map((name) =>
      entries.map(({ mappedFields }) => mappedFields[name]),
    ),
  ];
}

export const table: Figure = {
  id: 'table',
  about: `${rows} records of queued messages into a table of a PostgreSQL destination`,
  unit: 'rows/s',
  yardstick: `INSERT … SELECT unnest of the same rows by a bare client, ${perStatement} a statement`,
  goal: { of: 'ratio', atLeast: 0.5 },
  prepare: async () => {
    const warehouse = await startWarehouse();
    const { client, metadata, secrets } = warehouse;
    const stage = await startStage('http://127.0.0.1:9', { groups: [] });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 4, applicationName: 'svc bench' });
    const [lane] = await makeDestinations(stage, [{ type: 'postgres', metadata, secrets }]);
    if (!lane) throw new Error('there is no destination');
    return {
      run: async () => {
        await client.query('DROP TABLE IF EXISTS crm.contacts');
        const value = await deliverRows(database, lane);
        const {
          rows: [counted],
        } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM crm.contacts');
        if (counted?.n !== rows) throw new Error(`${counted?.n} rows are in the table, not ${rows}`);
        return { value, yardstick: await insertRows(client) };
      },
      close: async () => {
        await database.close();
        await stage.close();
        await warehouse.close();
      },
    };
  },
};
