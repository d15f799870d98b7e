import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectFile } from '../../src/transfer/schema.ts';
import { connect, deploy } from '../customer.ts';
import type { TestDatabase } from '../database.ts';
import type { Platform } from '../platform.ts';
import {
  below,
  exported,
  handedOver,
  imported,
  inVersion2,
  startTwoServers,
  type TwoServers,
} from '../two-servers.ts';

/** Which credentials count is decided by when a project was handed over, not by what each server counts for itself. */
describe('test/journeys/transfer-rehearsed', () => {
  let servers: TwoServers;
  let home: Platform;
  let away: Platform;
  let id: string;

  const replacedBy = async (to: Platform, file: ProjectFile): Promise<number | undefined> =>
    (await imported(to, file)).body.replaced['connections'];
  const isRenewed = async (at: Platform): Promise<boolean> =>
    (await at.call('GET', below(at, `/connections/${id}?refresh=force`))).status === 200;
  const signIn = (at: Platform): Promise<string> => connect(at, 'hubspot', 'acme');
  const takeBack = async (at: Platform): Promise<unknown> =>
    (await at.call('POST', below(at, '/exports:undo'))).body;
  const die = ({ database }: TestDatabase): Promise<unknown> =>
    database.raw(`UPDATE connection SET status = 'bad_credentials', status_detail = 'died'`);
  const statusAt = async (at: Platform): Promise<unknown> =>
    (await at.call('GET', below(at, `/connections/${id}`))).body;

  beforeAll(async () => {
    servers = await startTwoServers();
    ({ home, away } = servers);
    await deploy(home);
    id = await signIn(home);
    await imported(away, await handedOver(home));
    await takeBack(home);
  });
  afterAll(() => servers?.stop());

  it('after a rehearsal the real move brings the credentials that are used, there and back', async () => {
    expect(await isRenewed(home)).toBe(true);
    const out = await handedOver(home);
    expect(await replacedBy(away, out)).toBe(1);
    expect(await signIn(away)).toBe(id);
    const back = await handedOver(away);
    expect(await imported(home, back)).toMatchObject({
      body: { replaced: { connections: 1 }, warnings: [] },
    });
    expect(await isRenewed(home)).toBe(true);
    expect(await isRenewed(away)).toBe(false);
    expect(await replacedBy(home, back)).toBe(0);
    expect(await replacedBy(home, out)).toBe(0);
    expect(await replacedBy(away, out)).toBe(0);
  });

  it('what was dead when it moved away comes back once it was signed in there; taken back, it is as dead as before', async () => {
    await die(servers.homeDatabase);
    expect(await replacedBy(away, await handedOver(home))).toBe(1);
    const dead = { status: 'bad_credentials', statusDetail: 'died' };
    expect(await statusAt(away)).toMatchObject(dead);
    expect(await takeBack(home)).toEqual({ connections: 1 });
    expect(await statusAt(home)).toMatchObject(dead);
    await signIn(away);
    expect(await imported(home, await handedOver(away))).toMatchObject({
      body: { replaced: { connections: 1 }, warnings: [] },
    });
    expect(await isRenewed(home)).toBe(true);
  });

  it('no file of before brings back what was signed in here since, and no dead credentials come over those that work', async () => {
    const out = await handedOver(home);
    expect(await replacedBy(away, out)).toBe(1);
    await signIn(away);
    expect(await replacedBy(away, out)).toBe(0);
    await takeBack(home);
    await die(servers.homeDatabase);
    expect(await replacedBy(away, await handedOver(home))).toBe(0);
    expect(await isRenewed(away)).toBe(true);
    expect(await replacedBy(home, await handedOver(away))).toBe(1);
  });

  it('a file without move, or of an earlier version, replaces nothing, and says what does', async () => {
    expect(await replacedBy(away, await handedOver(home))).toBe(1);
    await takeBack(home);
    await signIn(home);
    const told = {
      message: expect.stringMatching(
        /^Changed where.*connections 1 \(acme\)\. Export with "move" there/,
      ) as string,
    };
    const { file: copy } = await exported(home, { move: false });
    const ofCopy = await imported(away, copy);
    expect(ofCopy.body).toMatchObject({ replaced: { connections: 0 } });
    expect(ofCopy.body.warnings).toContainEqual(told);
    const moved = await handedOver(home);
    const former = await imported(away, await inVersion2(moved));
    expect(former.body).toMatchObject({ replaced: { connections: 0 } });
    expect(former.body.warnings).toContainEqual(told);
    expect(await replacedBy(away, moved)).toBe(1);
    expect(await replacedBy(home, await handedOver(away))).toBe(1);
  });

  it('comes back from a server whose clock is behind, and waits for no clock', async () => {
    await servers.homeDatabase.database.raw(`UPDATE clock SET shift = shift + interval '1 hour'`);
    expect(await replacedBy(away, await handedOver(home))).toBe(1);
    await signIn(away);
    expect(await replacedBy(home, await handedOver(away))).toBe(1);
  });
});
