import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { record } from '../events/index.ts';
import { newId } from '../kit/ids.ts';
import { transferOn } from './harness.fixture.ts';
import type { Transfer } from './transfer.ts';

const passphrase = 'correct horse battery staple';
const pem = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).publicKey;

describe('transfer/again', () => {
  let test: TestDatabase;
  let transfer: Transfer;
  const project = { id: newId(), name: 'again' };
  const [apiKey, kept, jwtKey, topic] = ['leaked00', 'kept0000', newId(), newId()];

  beforeEach(async () => {
    test = await createTestDatabase();
    transfer = transferOn(test.database);
    await test.database.raw(
      `WITH a AS (INSERT INTO api_key (project_id, id, secret_hash, label, scopes)
         SELECT '${project.id}', id, sha256(id::bytea), id, '{full}' FROM unnest(ARRAY['${apiKey}', '${kept}']) id),
       t AS (INSERT INTO topic (project_id, id, name) VALUES ('${project.id}', '${topic}', 'sales'))
       INSERT INTO jwt_key (project_id, id, label, algorithm, public_key_pem)
       VALUES ('${project.id}', '${jwtKey}', 'page', 'RS256', '${pem}')`,
    );
  });
  afterEach(() => test?.drop());

  it('keys that were deleted here come in again revoked, and the answer says so, as of all that was deleted', async () => {
    const { file } = await transfer.export(project, { passphrase });
    for (const [table, action, targetId] of [
      ['api_key', 'apiKey.deleted', apiKey],
      ['jwt_key', 'jwtKey.deleted', jwtKey],
      ['topic', 'topic.deleted', topic],
    ] as const) {
      await test.database.raw(`DELETE FROM ${table} WHERE id = '${targetId}'`);
      await test.database.transaction((tx) => record(tx, { projectId: project.id, action, targetId }));
    }
    await test.database.raw(`DELETE FROM api_key WHERE id = '${kept}'`);
    const came = await transfer.import(project.id, { passphrase, file });
    expect(came.created).toMatchObject({ apiKeys: 2, jwtKeys: 1, topics: 1 });
    expect(came.warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^Deleted here before, and here again by the file, but revoked: apiKeys 1 \(leaked00\), jwtKeys 1 \(page\)\. /,
      ),
      expect.stringMatching(/^Deleted here before, and here again by the file: topics 1 \(.*\)\. /),
    ]);
    const keys = `SELECT id, active FROM api_key UNION ALL SELECT id::text, active FROM jwt_key ORDER BY active, id`;
    expect(await test.database.raw(keys)).toEqual([
      ...[apiKey, jwtKey].toSorted().map((id) => ({ id, active: false })),
      { id: kept, active: true },
    ]);
  });

  it('a front-end key comes into no second project', async () => {
    await test.database.raw('DELETE FROM api_key');
    const { file } = await transfer.export(project, { passphrase });
    await expect(transfer.import(newId(), { passphrase, file })).rejects.toMatchObject({
      code: 'import-clash',
      details: { issues: [{ name: `jwtKeys.${jwtKey}` }] },
    });
  });
});
