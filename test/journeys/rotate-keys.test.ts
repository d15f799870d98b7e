import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { sealedConnectionColumns } from '../../src/connections/index.ts';
import { sealedDestinationColumns } from '../../src/deliveries/index.ts';
import { newId } from '../../src/kit/ids.ts';
import { rotateKeys } from '../../src/kit/rotation.ts';
import { createVault, generateMasterKey, parseMasterKeys, type Vault } from '../../src/kit/vault.ts';
import { sealedProjectColumns } from '../../src/projects/index.ts';
import { deploy, install } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform } from '../platform.ts';

const [oldKey, newKey] = [generateMasterKey('old'), generateMasterKey('new')];
const vaultOf = (...keys: string[]): Vault => createVault(parseMasterKeys(keys.join(',')));
const columns = [...sealedConnectionColumns, ...sealedProjectColumns, ...sealedDestinationColumns];
const placeOf = (projectId: string, id: string): string => `${projectId}/${id}/credentials`;

describe('test/journeys/rotate-keys', () => {
  let test: TestDatabase;
  const projectId = newId();

  beforeEach(async () => {
    test = await createTestDatabase();
  });
  afterEach(() => test.drop());

  /** Connections sealed by the first key of the vault. */
  async function seed(vault: Vault, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId());
    await test.database.raw(
      `INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, credentials)
       SELECT $1, id, 'hubspot', 'g', 'c', 'oauth2/authorizationCode', 'working', sealed
       FROM unnest($2::uuid[], $3::bytea[]) AS given (id, sealed)`,
      [projectId, ids, ids.map((id) => vault.seal({ token: `${id}/0` }, placeOf(projectId, id)))],
    );
    return ids;
  }

  const stored = async (id: string): Promise<Buffer> => {
    const rows = await test.database.raw('SELECT credentials FROM connection WHERE id = $1', [id]);
    return rows[0]!['credentials'] as Buffer;
  };

  it('1,000 connections come under the new key while they are read and refreshed, and none is undone or unreadable', async () => {
    const before = vaultOf(oldKey, newKey);
    const after = vaultOf(newKey, oldKey);
    const ids = await seed(before, 1_000);
    const written = new Map<string, string>();
    const over = new AbortController();
    let [reads, writes, failures] = [0, 0, 0];

    // One writer a connection, as the refresh lease has it; half of the nodes still have the old key first.
    const work = async (nth: number): Promise<void> => {
      const mine = ids.filter((_id, at) => at % 6 === nth);
      const vault = nth % 2 === 0 ? before : after;
      while (!over.signal.aborted) {
        const id = mine[Math.floor(Math.random() * mine.length)]!;
        try {
          vault.open(await stored(id), placeOf(projectId, id));
        } catch {
          failures += 1;
        }
        reads += 1;
        const token = `${id}/${writes}`;
        const sealed = vault.seal({ token }, placeOf(projectId, id));
        await test.database.raw('UPDATE connection SET credentials = $2 WHERE id = $1', [id, sealed]);
        written.set(id, token);
        writes += 1;
      }
    };
    const workers = [0, 1, 2, 3, 4, 5].map(work);
    const first = await rotateKeys(test.database, after, columns);
    over.abort();
    await Promise.all(workers);
    const second = await rotateKeys(test.database, after, columns);

    expect(first.rewrapped).toBeGreaterThan(300);
    expect([first.shut, second.shut, failures]).toEqual([[], [], 0]);
    expect(second).toMatchObject({
      isDone: true,
      kept: [{ column: 'connection.credentials', keyId: 'new', count: 1_000 }],
    });
    expect(writes).toBeGreaterThan(100);
    expect(reads).toBeGreaterThan(100);
    // The old key is not there any more.
    const alone = vaultOf(newKey);
    for (const id of ids) {
      const opened = alone.open(await stored(id), placeOf(projectId, id));
      expect(opened).toEqual({ token: written.get(id) ?? `${id}/0` });
    }
  }, 60_000);

  it('a refresh between our reading and our writing stays', async () => {
    const both = vaultOf(newKey, oldKey);
    const [id] = await seed(vaultOf(oldKey), 1);
    const refreshed = vaultOf(oldKey).seal({ token: 'refreshed' }, placeOf(projectId, id!));
    let isFirst = true;
    const database = {
      ...test.database,
      rows: async <Row>(statement: { name: string; text: string }, values?: readonly unknown[]) => {
        if (statement.name === 'connection_sealed_swap' && isFirst) {
          isFirst = false;
          await test.database.raw('UPDATE connection SET credentials = $2 WHERE id = $1', [id, refreshed]);
        }
        return test.database.rows<Row>(statement, values);
      },
    };
    expect(await rotateKeys(database, both, columns)).toMatchObject({ rewrapped: 1, isDone: true });
    expect(isFirst).toBe(false);
    expect(vaultOf(newKey).open(await stored(id!), placeOf(projectId, id!))).toEqual({ token: 'refreshed' });
  });

  it('a ciphertext that was moved to another row, or whose key is gone, is reported and left as it is', async () => {
    const [from, to] = await seed(vaultOf(oldKey), 2);
    const [lost] = await seed(vaultOf(generateMasterKey('lost')), 1);
    const moved = await stored(from!);
    await test.database.raw('UPDATE connection SET credentials = $2 WHERE id = $1', [to, moved]);
    const both = vaultOf(newKey, oldKey);
    const rotation = await rotateKeys(test.database, both, columns);
    expect(rotation).toMatchObject({ rewrapped: 1, isDone: false });
    expect(new Set(rotation.shut.map(({ rowId }) => rowId))).toEqual(new Set([to, lost]));
    expect(rotation.shut.find(({ rowId }) => rowId === lost)?.reason).toContain('lost');
    expect(await stored(to!)).toEqual(moved);
    expect(() => both.open(moved, placeOf(projectId, to!))).toThrow('unable to authenticate');
    const rewrapped = await stored(from!);
    expect(() => both.open(rewrapped, placeOf(projectId, to!))).toThrow('unable to authenticate');
  });

  it('`master-keys rotate` that is killed goes on where it was; then the platform runs without the old key', async () => {
    const platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_ENCRYPTION_KEYS: oldKey },
    });
    try {
      await deploy(platform);
      const acme = await install(platform, 'hubspot-crm', 'acme');
      const begun = await platform.call('POST', '/oauth-connect', {
        projectIdOrName: 'default',
        provider: 'hubspot',
        groupRef: 'later',
        consumerRef: 'ada',
      });
      const metadata = { url: 'https://hooks.example.com/' };
      await platform.call('POST', '/projects/default/destinations', {
        name: 'mine',
        type: 'webhook',
        metadata,
      });
      const secretsOf = async () =>
        (
          await platform.call<{ secrets: object }>(
            'GET',
            '/projects/default/destinations/mine?includeSecrets=true',
          )
        ).body.secrets;
      const signingKey = await secretsOf();
      await seed(vaultOf(oldKey), 200);

      // A node seals under the old key: what it seals after the rotation would need it.
      const early = await rotate(`${newKey},${oldKey}`);
      expect([early.code, early.said]).toEqual([
        1,
        expect.stringContaining(
          'A node that runs seals under the key old. Put new first on every node and leave old behind it',
        ),
      ]);
      expect(await countOf('new')).toBe(0);
      await platform.restart('SIGTERM', { SVC_ENCRYPTION_KEYS: `${newKey},${oldKey}` });

      // A node that was left out when the new key was added starts, and says what it cannot open.
      const sentence = 'sealed under the master key new, too, which is not configured here';
      expect(platform.said()).not.toContain(sentence);
      await platform.restart('SIGTERM', { SVC_ENCRYPTION_KEYS: oldKey });
      expect(platform.said()).toContain(sentence);
      await platform.restart('SIGTERM', { SVC_ENCRYPTION_KEYS: `${newKey},${oldKey}` });

      const killed = await rotate(`${newKey},${oldKey}`, { SVC_CRASH_AT: 'after-rewrap:77' });
      expect(killed.signal).toBe('SIGKILL');
      expect(await countOf('new')).toBe(77);

      const resumed = await rotate(`${newKey},${oldKey}`);
      expect([resumed.code, resumed.said]).toEqual([
        0,
        expect.stringContaining('Nothing is under another key'),
      ]);
      // 201 connections, 2 provider apps, 2 flows (one was used) and 1 destination, less what the killed run did.
      expect(resumed.said).toContain(`${201 + 2 + 2 + 1 - 77} values are now under the key new`);
      expect((await rotate(`${newKey},${oldKey}`)).said).toContain('0 values are now');

      await platform.restart('SIGTERM', { SVC_ENCRYPTION_KEYS: newKey });
      const path = `/projects/default/connections/${acme.connectionId}?includeCreds=true`;
      expect((await platform.call('GET', path)).status).toBe(200);
      const written = await acme.write('contacts', { type: 'create', record: { email: 'k@example.com' } });
      expect(written.status).toBe(200);
      expect(await secretsOf()).toEqual(signingKey);
      expect(signingKey).toEqual({ webhookSigningKey: expect.stringMatching(/^whsec_/) as string });
      // The flow that was begun under the old key ends under the new one, with the client secret of the app.
      expect((await newBrowser().open(begun.text)).status).toBe(200);

      // A node that still had the old key only would seal what the others cannot open.
      await expect(platform.restart('SIGTERM', { SVC_ENCRYPTION_KEYS: oldKey })).rejects.toThrow(
        /none of the master keys is one that this database was sealed with \(new\)/,
      );
      await platform.restart('SIGTERM', { SVC_ENCRYPTION_KEYS: newKey });
      // The check value of a key under which a node seals comes back, whoever took it away.
      await test.database.raw('DELETE FROM master_key');
      await expect
        .poll(() => test.database.raw('SELECT id FROM master_key'), { timeout: 10_000 })
        .toEqual([{ id: 'new' }]);
    } finally {
      await platform.stop();
    }
  }, 180_000);

  it('`master-keys rotate` without a key that is still needed says so, and ends with 1', async () => {
    await seed(vaultOf(oldKey), 3);
    const { code, said } = await rotate(newKey);
    expect(code).toBe(1);
    expect(said).toContain('connection.credentials: 3 under old');
    expect(said).toContain('the master key old is not configured');
    expect(said).not.toContain(newKey.slice(5));
    expect(await countOf('old')).toBe(3);
  });

  async function countOf(keyId: string): Promise<number> {
    const { kept } = await rotateKeys(test.database, vaultOf(generateMasterKey('none')), columns.slice(0, 1));
    return kept.find((each) => each.keyId === keyId)?.count ?? 0;
  }

  function rotate(
    keys: string,
    env: Record<string, string> = {},
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null; said: string }> {
    const child = spawn(process.execPath, ['src/main.ts', 'master-keys', 'rotate'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: test.url,
        SVC_ENCRYPTION_KEYS: keys,
        SVC_LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, said })));
  }
});
