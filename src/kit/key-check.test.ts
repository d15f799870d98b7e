import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { checkMasterKeys, noteKeyInUse, retireOtherKeys } from './key-check.ts';
import { createVault, parseMasterKeys, type Vault } from './vault.ts';

const keyOf = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const vaultOf = (...keys: string[]): Vault => createVault(parseMasterKeys(keys.join(',')));
const [former, next] = [keyOf('k1', 1), keyOf('k2', 2)];

describe('kit/key-check', () => {
  let test: TestDatabase;
  beforeEach(async () => {
    test = await createTestDatabase();
  });
  afterEach(() => test.drop());

  /** A node that notes its key as often as this looks; what it said. */
  async function running(vault: Vault): Promise<string[]> {
    await checkMasterKeys(test.database, vault, []);
    const said: string[] = [];
    const tell = (line: unknown): void => void said.push(String(line));
    onTestFinished(noteKeyInUse(test.database, vault, { warn: tell, error: tell }, 50));
    await expect.poll(usedAt(vault)).toBeTruthy();
    return said;
  }
  const usedAt = (vault: Vault) => async () =>
    (await test.database.raw(`SELECT used_at FROM master_key WHERE id = '${vault.activeKeyId}'`))[0]?.[
      'used_at'
    ];

  it('a node whose key was retired while it did not run says so', async () => {
    const said = await running(vaultOf(former, next));
    expect(said).toEqual([]);
    await retireOtherKeys(test.database, vaultOf(next, former));
    await expect.poll(() => said.length).toBe(1);
    expect(said[0]).toMatch(/took the key k1 for one that no node seals under.* rotate again$/);
  });

  it('a node is told once of a key that it lacks, when another node seals under it', async () => {
    const said = await running(vaultOf(former));
    await running(vaultOf(next, former));
    await expect.poll(() => said.length).toBe(1);
    expect(said[0]).toContain('sealed under the master key k2, too, which is not configured here');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(said).toHaveLength(1);
  });
});
