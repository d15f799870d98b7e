import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Export } from '../../src/transfer/schema.ts';
import { connect, deploy } from '../customer.ts';
import type { Platform } from '../platform.ts';
import { below, exported, imported, startTwoServers, type TwoServers } from '../two-servers.ts';

/** What happens while an export moves the connections: they are used at one server. */
describe('test/journeys/transfer-meanwhile', () => {
  let servers: TwoServers;
  let home: Platform;
  let away: Platform;
  let holder: Client;
  let id: string;

  const moved = 'It was moved to another server';
  const detailAt = async (at: Platform, connectionId: string): Promise<string> =>
    (await at.call<{ statusDetail?: string }>('GET', below(at, `/connections/${connectionId}`))).body
      .statusDetail ?? '';
  const renewalAt = (at: Platform, connectionId: string) =>
    at.call('GET', below(at, `/connections/${connectionId}?refresh=force`));
  /** An export that has marked the connections; it makes its file once it is let go on. */
  async function exportHeld(): Promise<{ ended: Promise<Export>; goOn: () => Promise<void> }> {
    const ended = exported(home, { move: true });
    await expect.poll(() => detailAt(home, id), { interval: 20, timeout: 30_000 }).toContain(moved);
    await holder.query('BEGIN; LOCK TABLE jwt_key IN ACCESS EXCLUSIVE MODE');
    const waits = `SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'jwt_key'::regclass AND NOT granted`;
    await expect
      .poll(async () => (await holder.query<{ n: number }>(waits)).rows, { timeout: 30_000 })
      .toEqual([{ n: 1 }]);
    return { ended, goOn: async () => void (await holder.query('COMMIT')) };
  }

  beforeAll(async () => {
    servers = await startTwoServers();
    ({ home, away } = servers);
    holder = new Client({ connectionString: servers.homeDatabase.url });
    await holder.connect();
    await deploy(home);
    id = await connect(home, 'hubspot', 'acme');
  });
  afterAll(async () => {
    await holder?.end();
    await servers?.stop();
  });

  it('taken back during an export, the connections are used here from when it ended', async () => {
    const { ended, goOn } = await exportHeld();
    const order: string[] = [];
    const undone = home.call('POST', below(home, '/exports:undo')).then((answer) => {
      order.push('undone');
      return answer;
    });
    const left = ended.then(() => order.push('exported'));
    await goOn();
    await left;
    expect(await undone).toMatchObject({ status: 200, body: { connections: 1 } });
    expect(order).toEqual(['exported', 'undone']);
    expect(await detailAt(home, id)).toBe('');
  });

  it('who connects or reconnects during an export is handed over by it, and not used here', async () => {
    const { ended, goOn } = await exportHeld();
    expect(await connect(home, 'hubspot', 'acme')).toBe(id);
    const other = await connect(home, 'salesforce', 'other');
    await goOn();
    const { file, warnings } = await ended;
    expect(warnings).toEqual([]);
    for (const one of [id, other]) expect(await detailAt(home, one)).toContain(moved);
    expect(await imported(away, file)).toMatchObject({ body: { created: { connections: 2 } } });
    for (const one of [id, other]) expect(await renewalAt(away, one)).toMatchObject({ status: 200 });
  });

  it('an export of what was moved away before warns that a third server is not to use it', async () => {
    const earlier = /^Moved away by an earlier export.*connections 2 \(.*import this file nowhere else/;
    // None is used here: nothing is said of connections that are used where the file was made.
    for (const move of [true, false])
      expect((await exported(home, { move })).warnings).toEqual([
        { message: expect.stringMatching(earlier) as string },
      ]);
    expect((await exported(away, { move: true })).warnings).toEqual([]);
  });
});
