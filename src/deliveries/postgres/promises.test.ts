import { freePort } from '../../../test/free-port.ts';
import { testDestinationKind, type Behaviour, type KindWorld } from '../kind.testsuite.ts';
import { ground, openWarehouse } from './harness.fixture.ts';
import { createPostgres } from './index.ts';

const good = { url: 'postgresql://svc@db.example.com/warehouse', schema: 'crm' };

testDestinationKind({
  type: 'postgres',
  patienceMs: 3_000,
  async open(): Promise<KindWorld> {
    const warehouse = await openWarehouse();
    const { wire, metadata, password, rows } = warehouse;
    const kind = createPostgres({ timeoutMs: 1_000 });
    const readOnly = (is: boolean): Promise<unknown> =>
      rows(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${is ? 'on' : 'off'}', current_database()); END $$`,
      );
    let before: Behaviour = 'well';
    return {
      kind,
      metadata,
      secrets: { password },
      nowhere: { ...metadata, url: `postgresql://svc@127.0.0.1:${await freePort()}/svc?sslmode=disable` },
      behave: async (how) => {
        if (how === 'refuses' || before === 'refuses') {
          await readOnly(how === 'refuses');
          // It counts for sessions that begin after it.
          wire.cut('refuse');
        }
        wire.heal();
        if (how === 'hangs') wire.cut('hang');
        before = how;
      },
      arrived: async () => {
        const [found] = await rows(`SELECT to_regclass('crm.people') AS name`);
        if (found?.['name'] === null) return [];
        const kept = await rows('SELECT record_id, name FROM crm.people ORDER BY 1');
        return kept.map(({ record_id: id, name }) => `${String(id)} ${String(name)}`);
      },
      context: { ground },
      close: async () => {
        await kind.close?.();
        await warehouse.close();
      },
    };
  },
  shown: ({ id, name }) => `${id} ${name}`,
  nonsense: [
    ['no URL', { schema: 'crm' }, 'metadata.url'],
    ['what is no URL', { ...good, url: 'db' }, 'metadata.url'],
    ['a password in the URL', { ...good, url: 'postgresql://svc:pw@db.example.com/w' }, 'metadata.url'],
    ['another scheme', { ...good, url: 'https://svc@db.example.com/w' }, 'metadata.url'],
    ['a parameter that nobody knows', { ...good, url: `${good.url}?options=-cx` }, 'metadata.url'],
    ['no TLS in production', { ...good, url: `${good.url}?sslmode=disable` }, 'metadata.url'],
    ['no schema', { url: good.url }, 'metadata.schema'],
    ['a schema of PostgreSQL', { ...good, schema: 'pg_catalog' }, 'metadata.schema'],
    ['a property of another kind', { ...good, headers: {} }, 'metadata.headers'],
  ],
});
