import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { wholeProject } from '../events/index.ts';
import { newId } from '../kit/ids.ts';
import { sealSecrets } from './credentials/index.ts';
import { control, createHarness, type Harness } from './harness.fixture.ts';
import type { ConnectionRequest } from './schema.ts';
import { insertConnection, type ConnectionContent } from './store.ts';

describe('connections/revoke', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let harness: Harness;
  const app = { provider: 'hubspot', clientId: 'hs', clientSecret: 's', scopes: ['oauth'] };
  beforeAll(async () => {
    hubspot = await startHubspot({ records: 1 });
    harness = await createHarness({ hubspot: hubspot.url });
    await harness.projects.providerApps.create(harness.projectId, app);
  });
  beforeEach(() => fetch(`${hubspot.url}/__sim/requests`, { method: 'DELETE' }));
  afterAll(async () => {
    await harness.close();
    await hubspot.close();
  });

  const content: Omit<ConnectionContent, 'credentials'> = {
    provider: 'hubspot',
    providerAppId: undefined,
    workspaceRef: undefined,
    providerConsumerRef: undefined,
    authScheme: 'oauth2/authorizationCode',
    providerMetadata: {},
    scopes: undefined,
    status: 'created',
    issuedAgoMs: undefined,
    expiresInMs: undefined,
  };
  /** Tokens of an account at the simulator, and connections that are made of them. */
  async function issued(account: string) {
    const pair = await control(hubspot.url, 'tokens', { action: 'issue', account });
    const oauth2AuthorizationCode = {
      accessToken: { token: String(pair['accessToken']) },
      refreshToken: { token: String(pair['refreshToken']) },
    };
    const connect = (projectId: string, groupRef: string, more: ConnectionRequest = {}) =>
      harness.connections.generate(projectId, {
        provider: 'hubspot',
        groupRef,
        consumerRef: 'ada',
        oauth2AuthorizationCode,
        ...more,
      });
    return { refreshToken: String(pair['refreshToken']), connect };
  }
  const revocations = async () => (await control(hubspot.url, 'requests?path=revoke'))['requests'];

  it('ends no authorization that a connection of another project shares', async () => {
    const { projects, connections, projectId } = harness;
    const { id: otherId } = await projects.create({ name: 'staging' });
    await projects.providerApps.create(otherId, app);
    const { connect } = await issued('91');
    const [one, other] = await Promise.all([connect(projectId, 'acme'), connect(otherId, 'acme')]);
    await connections.delete(harness.reach, one.id);
    expect(await revocations()).toEqual([]);
    await connections.refresh(otherId, other.id, 'force');
    await connections.delete(wholeProject(otherId), other.id);
    expect(await revocations()).toHaveLength(1);
  });

  it('ends no authorization that a connection shares whose account is written otherwise', async () => {
    const { connections, projectId, reach } = harness;
    const { connect } = await issued('92');
    const stays = await connect(projectId, 'one');
    const copy = await connect(projectId, 'two', { providerWorkspaceRef: 'acme-portal' });
    expect(copy.workspaceRef).not.toBe(stays.workspaceRef);
    await connections.delete(reach, copy.id);
    expect(await revocations()).toEqual([]);
    await connections.refresh(projectId, stays.id, 'force');
    await connections.delete(reach, stays.id);
    expect(await revocations()).toHaveLength(1);
  });

  it('looks for one that shares it among all connections of the provider', async () => {
    const { ground, connections, projectId, reach } = harness;
    const { refreshToken, connect } = await issued('93');
    const copy = await connect(projectId, 'copy');
    const owner = { groupRef: 'copy', consumerRef: 'ada' };
    const insert = async (holds: string) => {
      const id = newId();
      const secrets = { kind: 'authorizationCode', accessToken: 'at', refreshToken: holds } as const;
      const credentials = sealSecrets(ground.vault, projectId, id, secrets);
      await insertConnection(ground.database, [projectId, id], owner, { ...content, credentials });
      return id;
    };
    for (let one = 0; one < 1_001; one += 1) await insert(`rt-${one}`);
    const last = await insert(refreshToken);
    await connections.delete(reach, copy.id);
    expect(await revocations()).toEqual([]);
    await connections.delete(reach, last);
    expect(await revocations()).toHaveLength(1);
  });

  it('counts what no key opens here as one that shares it where it is of the same account, and passes by the others', async () => {
    const { ground, connections, projectId, reach } = harness;
    const unreadable = (groupRef: string, workspaceRef: string) =>
      insertConnection(
        ground.database,
        [projectId, newId()],
        { groupRef, consumerRef: 'ada' },
        { ...content, workspaceRef, credentials: Buffer.from('sealed elsewhere') },
      );
    const [elsewhere, here] = [await issued('94'), await issued('95')];
    await unreadable('unreadable', 'another-portal');
    const passing = await elsewhere.connect(projectId, 'passing');
    await connections.delete(reach, passing.id);
    expect(await revocations()).toHaveLength(1);
    const held = await here.connect(projectId, 'held');
    await unreadable('unreadable', String(held.workspaceRef));
    await connections.delete(reach, held.id);
    expect(await revocations()).toHaveLength(1);
  });

  it('ends no authorization of a connection that came while it was looked for those that share it', async () => {
    const { ground, connections, projectId, reach } = harness;
    const { connect } = await issued('96');
    const { id } = await connect(projectId, 'goes');
    const { database } = ground;
    const rows = database.rows.bind(database);
    let later: Promise<{ id: string }> | undefined;
    database.rows = async (asked, ...values) => {
      const found = await rows<never>(asked, ...values);
      if (asked.name === 'connections_list_sealed' && found.length === 0)
        await (later ??= connect(projectId, 'comes'));
      return found;
    };
    await connections.delete(reach, id);
    database.rows = rows;
    expect(await revocations()).toEqual([]);
    await connections.refresh(projectId, (await later)?.id ?? '', 'force');
  });

  it.each([
    ['discord', 'discord'],
    ['google', 'bigquery'],
  ])(
    'ends no authorization by another token of it, where all of them end at once: %s, %s',
    async (one, same) => {
      const revoked: string[] = [];
      const server = createServer((request, response) => {
        request.setEncoding('utf8').on('data', (text: string) => {
          revoked.push(new URLSearchParams(text).get('token') ?? '');
        });
        request.on('end', () => response.end());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const other = await createHarness({ [one]: origin, [same]: origin });
      try {
        const { connections, projects, projectId, reach } = other;
        for (const provider of new Set([one, same]))
          await projects.providerApps.create(projectId, {
            provider,
            clientId: 'c',
            clientSecret: 's',
            scopes: ['a'],
          });
        const connect = (provider: string, name: string, groupRef: string, hasRefreshToken = true) =>
          connections.generate(projectId, {
            provider,
            groupRef,
            consumerRef: name,
            oauth2AuthorizationCode: {
              accessToken: { token: `at-${name}` },
              ...(hasRefreshToken ? { refreshToken: { token: name } } : {}),
            },
          });
        const short = await connect(one, 'short', 'acme', false);
        const ada = await connect(one, 'ada', 'acme');
        const bob = await connect(same, 'bob', 'acme');
        const elsewhere = await connect(one, 'elsewhere', 'other');
        for (const { id } of [short, ada]) await connections.delete(reach, id);
        expect(revoked).toEqual([]);
        for (const { id } of [bob, elsewhere]) await connections.delete(reach, id);
        expect(revoked).toEqual(['bob', 'elsewhere']);
      } finally {
        await other.close();
        server.close();
      }
    },
  );
});
