import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from '../harness.fixture.ts';

type Answer = [status: number, body: object];

/** Sugar's token endpoint, which answers each kind of grant as it is told. */
async function startSugar() {
  const asked: Record<string, string>[] = [];
  const grants = {
    password: (): Answer => [200, { access_token: 'at', refresh_token: 'rt', expires_in: 3_600 }],
    refresh_token: (): Answer => [400, { error: 'invalid_grant', error_message: 'Invalid refresh token' }],
    /** Before an answer. */
    onAsked: (_grant: string) => Promise.resolve(),
  };
  const server: Server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const body = JSON.parse(text) as Record<string, string>;
      asked.push(body);
      await grants.onAsked(body['grant_type'] ?? '');
      const [status, said] = body['grant_type'] === 'password' ? grants.password() : grants.refresh_token();
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, grants, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe('connections/refresh/password', () => {
  let sugar: Awaited<ReturnType<typeof startSugar>>;
  let harness: Harness;
  let original: Awaited<ReturnType<typeof startSugar>>['grants'];
  let groups = 0;
  let id: string;
  beforeAll(async () => {
    sugar = await startSugar();
    original = { ...sugar.grants };
    harness = await createHarness({ sugarCRM: sugar.url });
  });
  beforeEach(async () => {
    Object.assign(sugar.grants, original);
    groups += 1;
    const made = await harness.connections.generate(harness.projectId, {
      provider: 'sugarCRM',
      groupRef: `group-${groups}`,
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme.sugarondemand.com',
      oauth2PasswordCredentials: { username: 'ada', password: 'pw', clientId: 'sugar', clientSecret: 's' },
    });
    id = made.id;
    sugar.asked.length = 0;
  });
  afterAll(async () => {
    await harness.close();
    await sugar.close();
  });

  const refresh = () => harness.connections.refresh(harness.projectId, id, 'force');
  const grantsAsked = () => sugar.asked.map(({ grant_type: grant }) => grant);
  const found = () => harness.connections.get(harness.reach, id);

  it('asks with the user name and the password when the refresh token is over', async () => {
    await refresh();
    expect(grantsAsked()).toEqual(['refresh_token', 'password']);
    expect(sugar.asked[1]).toMatchObject({ username: 'ada', password: 'pw', client_id: 'sugar' });
    expect(await found()).toMatchObject({ status: 'created', generation: 2 });
  });

  it('condemns a connection when the password is refused, too', async () => {
    sugar.grants.password = () => [401, { error: 'need_login', error_message: 'Wrong password' }];
    await expect(refresh()).rejects.toMatchObject({ code: 'connection-bad-credentials' });
    expect(grantsAsked()).toEqual(['refresh_token', 'password']);
    expect(await found()).toMatchObject({ status: 'bad_credentials', generation: 1 });
  });

  it('condemns nothing while nobody says whether the password holds', async () => {
    sugar.grants.password = () => [503, {}];
    await expect(refresh()).rejects.toMatchObject({ code: 'provider-unreachable' });
    expect(await found()).toMatchObject({ status: 'created', generation: 1 });
    sugar.grants.password = original.password;
    await refresh();
    expect(await found()).toMatchObject({ status: 'created', generation: 2 });
  });

  it('keeps no refresh token that is over', async () => {
    sugar.grants.password = () => [200, { access_token: 'at2', expires_in: 3_600 }];
    await refresh();
    sugar.asked.length = 0;
    await refresh();
    expect(grantsAsked()).toEqual(['password']);
  });

  it('does not ask with the password once other credentials are in place', async () => {
    const { database } = harness.ground;
    sugar.grants.onAsked = async () => {
      await database.raw(
        `UPDATE connection SET generation = 2, refresh_lease = NULL, refresh_lease_until = NULL WHERE id = $1`,
        [id],
      );
    };
    await refresh();
    expect(grantsAsked()).toEqual(['refresh_token']);
    expect(await found()).toMatchObject({ status: 'created', generation: 2 });
  });
});
