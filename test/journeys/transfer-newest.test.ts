import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy } from '../customer.ts';
import type { Platform } from '../platform.ts';
import {
  below,
  handedOver,
  imported,
  inVersion2,
  passphrase,
  startTwoServers,
  type TwoServers,
} from '../two-servers.ts';

/** What a file hands over comes in place of what is used only where it was signed in or renewed later, and what is left is named. */
describe('test/journeys/transfer-newest', () => {
  let servers: TwoServers;
  let home: Platform;
  let away: Platform;
  let id: string;

  async function renew(at: Platform): Promise<void> {
    const { status, text } = await at.call('GET', below(at, `/connections/${id}?refresh=force`));
    if (status !== 200) throw new Error(text);
  }
  const takeBack = (at: Platform) => at.call('POST', below(at, '/exports:undo'));
  const told = (pattern: RegExp) => ({ message: expect.stringMatching(pattern) as string });
  const left = told(/^Handed over by the file, and left as they are here.*: connections 1 \(acme\)\. /);
  const over = told(/^Used here until now, and replaced by those of the file.*: connections 1 \(acme\)\. /);
  const changed = told(/^Changed where.*connections 1 \(acme\)\. Export with "move" there/);

  beforeAll(async () => {
    servers = await startTwoServers();
    ({ home, away } = servers);
    await deploy(home);
    id = await connect(home, 'hubspot', 'acme');
  });
  afterAll(() => servers?.stop());

  it('taken back and moved again, a file ends no token that was renewed here since, and says so', async () => {
    await imported(away, await handedOver(home));
    await renew(away);
    await takeBack(home);
    const { body } = await imported(away, await handedOver(home));
    expect(body).toMatchObject({ replaced: { connections: 0 }, warnings: [left] });
    await renew(away);
  });

  it('what is replaced although it was used here is named, also by a dry run', async () => {
    await takeBack(home);
    await renew(home);
    const file = await handedOver(home);
    const plan = await away.call('POST', below(away, '/imports'), { passphrase, file, dryRun: true });
    const replaced = { replaced: { connections: 1 }, warnings: [over] };
    expect(plan.body).toMatchObject(replaced);
    expect((await imported(away, file)).body).toMatchObject(replaced);
    await renew(away);
    expect((await imported(away, file)).body).toMatchObject({ replaced: { connections: 0 }, warnings: [] });
  });

  it('who signs in where the project was moved from keeps that sign-in on the way back', async () => {
    expect(await connect(home, 'hubspot', 'acme')).toBe(id);
    await renew(away);
    const { body } = await imported(home, await handedOver(away));
    expect(body).toMatchObject({ replaced: { connections: 0 }, warnings: [left] });
    await renew(home);
    expect((await imported(away, await handedOver(home))).body).toMatchObject({
      replaced: { connections: 1 },
      warnings: [],
    });
  });

  it('a move that was under way during an update is told, and done by another export with move', async () => {
    await takeBack(home);
    await renew(home);
    const file = await handedOver(home);
    for (const { database } of [servers.homeDatabase, servers.awayDatabase])
      await database.raw(
        `UPDATE connection SET signed_in_at = NULL, as_of = CASE WHEN moved_at IS NULL THEN created_at ELSE as_of END`,
      );
    const former = await inVersion2(file);
    expect((await imported(away, former)).body).toMatchObject({
      replaced: { connections: 0 },
      warnings: [changed],
    });
    await servers.awayDatabase.database.raw(`UPDATE connection SET as_of = svc_now()`);
    expect((await imported(away, former)).body.warnings).toEqual([changed]);
    await servers.awayDatabase.database.raw(`UPDATE connection SET as_of = created_at`);
    expect((await imported(away, await handedOver(home))).body).toMatchObject({
      replaced: { connections: 1 },
      warnings: [over],
    });
    await renew(away);
  });

  it('a repeated import of the way back names again what is here and not in the file', async () => {
    const made = await home.call('POST', below(home, '/api-keys'), { label: 'since', scopes: ['full'] });
    expect(made.status).toBe(201);
    const back = await handedOver(away);
    const missing = told(/^Here and not in the file.*: apiKeys 1 \(since\)\. /);
    for (const connections of [1, 0])
      expect((await imported(home, back)).body).toMatchObject({
        replaced: { connections },
        warnings: [missing],
      });
  });

  it('a connection that was deleted here before is named when a file brings it back', async () => {
    const file = await handedOver(home);
    expect((await home.call('DELETE', below(home, `/connections/${id}`))).status).toBe(204);
    const again = told(/^Deleted here before, and here again by the file: connections 1 \(acme\)\. /);
    const plan = await home.call('POST', below(home, '/imports'), { passphrase, file, dryRun: true });
    expect(plan.body).toMatchObject({ created: { connections: 1 }, warnings: [again] });
    expect((await imported(home, file)).body).toMatchObject({
      created: { connections: 1 },
      warnings: [again],
    });
    expect((await imported(home, file)).body).toMatchObject({ created: { connections: 0 }, warnings: [] });
  });
});
