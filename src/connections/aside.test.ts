import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countBadConnections } from './find-store.ts';
import { moveConnections, takeBackConnections } from './move-store.ts';
import { portableConnections } from './portable-store.ts';
import { withJira } from './proof/jira.fixture.ts';

/** Tokens that did not pass their trial, kept beside a connection whose own may work. */
describe('connections/aside', () => {
  let close: () => Promise<void>;
  let provider: Awaited<ReturnType<typeof withJira>>['provider'];
  let harness: Awaited<ReturnType<typeof withJira>>['harness'];
  let groups = 0;
  let groupRef: string;
  let id: string;
  let aside: string;
  beforeAll(async () => {
    ({ provider, harness, close } = await withJira());
  });
  beforeEach(async () => {
    groups += 1;
    groupRef = `group${groups}`;
    provider.sites.of.set(`${groupRef}good`, 'acme').set(`${groupRef}bad`, 'other');
    id = (await bring('good')).json.id;
    await bring('bad');
    aside = (await listed()).find((one) => one.id !== id)!.id;
  });
  afterAll(() => close());

  const bring = (which: 'good' | 'bad', used = 0) =>
    harness.call('POST', '/v1/projects/default/connections:generate', {
      provider: 'jira',
      groupRef,
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      oauth2AuthorizationCode: { refreshToken: { token: `${groupRef}${which}-${used}` } },
    });
  const listed = () => harness.list(`?groupRef=${groupRef}`);
  const shown = async (which: string) => (await listed()).find((one) => one.id === which);
  const ends = () => harness.connections.markBadCredentials(harness.projectId, id, 1, 'test');
  const counted = () => countBadConnections(harness.ground.database, harness.projectId, 100);

  it('is said of what was set aside, and of nothing else', async () => {
    expect(await shown(aside)).toMatchObject({ isAside: true, status: 'bad_credentials' });
    await ends();
    expect(await shown(id)).toMatchObject({ status: 'bad_credentials' });
    expect(await shown(id)).not.toHaveProperty('isAside');
  });

  it('is no default of its group beside a connection that ended', async () => {
    await ends();
    expect((await harness.connections.findDefault(harness.reach, groupRef, 'jira'))?.id).toBe(id);
  });

  it('gives way to a connection that ended, whichever of them was made later', async () => {
    await harness.ground.database.raw(`UPDATE connection SET created_at = svc_now() WHERE id = $1`, [id]);
    await ends();
    expect(await bring('good', 1)).toMatchObject({ status: 201, json: { id } });
    expect(await shown(aside)).toMatchObject({ isAside: true });
  });

  it('is not counted as a connection that somebody must connect again', async () => {
    const before = await counted();
    await ends();
    expect(await counted()).toBe(before + 1);
    await harness.connections.delete(harness.reach, aside);
    expect(await counted()).toBe(before + 1);
  });

  it('is over when other credentials are in place, whichever release stored them', async () => {
    await harness.ground.database.raw(
      `UPDATE connection SET generation = generation + 1, status = 'created', status_detail = NULL WHERE id = $1`,
      [aside],
    );
    expect(await shown(aside)).not.toHaveProperty('isAside');
  });

  it('is still so when an export was undone', async () => {
    const { database } = harness.ground;
    await moveConnections(database, harness.projectId);
    await database.transaction((tx) => takeBackConnections(tx, harness.projectId));
    expect(await shown(aside)).toMatchObject({ isAside: true });
    expect(await shown(id)).not.toHaveProperty('isAside');
  });

  it('is told in as many words as a file may hold', async () => {
    const { ground, projectId } = harness;
    const part = portableConnections.find(({ kind }) => kind === 'connections')!;
    for (const detail of ['ä'.repeat(20_000), `${'x'.repeat(9_999)}😀`]) {
      await ground.database.raw(`UPDATE connection SET status = 'working' WHERE id = $1`, [id]);
      await harness.connections.markBadCredentials(projectId, id, 1, detail);
      const { statusDetail = '' } = (await shown(id)) ?? {};
      expect(statusDetail).toMatch(/^(ä{10000}|x{9999}\uFFFD)$/);
      const rows = await part.read(ground.database, { projectId, limit: 1_000 }, ground.vault);
      expect(rows.some(({ row }) => row.includes(id))).toBe(true);
    }
  });

  it('goes along to where a file comes in', async () => {
    const { ground, projectId, reach, connections } = harness;
    const part = portableConnections.find(({ kind }) => kind === 'connections')!;
    const rows = await part.read(ground.database, { projectId, limit: 1_000 }, ground.vault);
    for (const one of [id, aside]) await connections.delete(reach, one);
    await ground.database.transaction((tx) => part.write(tx, projectId, rows, ground.vault));
    expect(await shown(aside)).toMatchObject({ isAside: true });
    expect(await shown(id)).not.toHaveProperty('isAside');
  });
});
