import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { deploy, manifest, simulator, type InstallationBody, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type CallOptions, type Platform } from '../platform.ts';

interface Connection {
  id: string;
  group: { groupRef: string; groupName: string };
  consumer: { consumerRef: string; consumerName: string };
}
interface Found {
  hits: { type: string; id: string; name: string; groupRef?: string }[];
}

/** What a person of a customer, with a front-end token, does to colleagues, to other customers and to the builder. */
describe('test/journeys/colleagues', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, records: 3 });
    await deploy(platform, manifest);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const at = '/projects/default';
  const tokenOf = async (groupRef: string, consumerRef: string): Promise<CallOptions> => {
    const made = await platform.call<{ token: string }>('POST', `${at}/frontend-tokens`, {
      groupRef,
      consumerRef,
    });
    return { key: null, headers: { authorization: `Bearer ${made.body.token}` } };
  };
  const connectAs = async (
    groupRef: string,
    consumerRef: string,
    who: CallOptions = {},
    more: object = {},
  ) => {
    const asked = { projectIdOrName: 'default', provider: 'hubspot', groupRef, consumerRef, ...more };
    const started = await platform.call<ProblemBody>('POST', '/oauth-connect', asked, who);
    if (started.status !== 200) return started;
    const page = await newBrowser().open(started.text);
    if (page.status !== 200) throw new Error(page.text);
    return started;
  };
  const connectionsOf = async (groupRef: string, query = ''): Promise<Connection[]> =>
    (await platform.call<Connection[]>('GET', `${at}/connections?groupRef=${groupRef}${query}`)).body;
  const connected = async (groupRef: string, consumerRef: string): Promise<string> => {
    await connectAs(groupRef, consumerRef);
    return (await connectionsOf(groupRef, `&consumerRef=${consumerRef}`))[0]!.id;
  };
  const install = (groupRef: string, more: object, who: CallOptions = {}, integration = 'hubspot-crm') =>
    platform.call<InstallationBody & ProblemBody>(
      'POST',
      `${at}/integrations/${integration}/installations`,
      { groupRef, config: { content: { provider: 'hubspot' } }, ...more },
      who,
    );
  const remove = (id: string, who: CallOptions = {}, integration = 'hubspot-crm') =>
    platform.call('DELETE', `${at}/integrations/${integration}/installations/${id}`, undefined, who);
  const statusOf = async (id: string): Promise<number> =>
    (await platform.call('GET', `${at}/connections/${id}`)).status;

  it('two groups have a consumer of one ref each, with a name of their own', async () => {
    await connectAs('north', 'admin', await tokenOf('north', 'admin'), { consumerName: 'Ann North' });
    await connectAs('south', 'admin', await tokenOf('south', 'admin'));
    expect((await connectionsOf('south'))[0]!.consumer.consumerName).toBe('admin');
    await connectAs('south', 'admin', await tokenOf('south', 'admin'), { consumerName: 'Sam South' });
    expect((await connectionsOf('north'))[0]!.consumer.consumerName).toBe('Ann North');
    expect((await connectionsOf('south'))[0]!.consumer.consumerName).toBe('Sam South');
    const events = await platform.call<{ results: object[] }>('GET', `${at}/events?type=connection.updated`);
    const [last] = events.body.results.map((event) => JSON.stringify(event));
    expect(last).toContain('Sam South');
    const found = await platform.call<Found>('GET', `${at}/search?q=admin`);
    expect(found.body.hits.filter(({ type }) => type === 'consumer')).toEqual([
      { type: 'consumer', id: 'admin', name: 'Ann North', groupRef: 'north' },
      { type: 'consumer', id: 'admin', name: 'Sam South', groupRef: 'south' },
    ]);
  });

  it('a connection that a node of the release before makes has its consumer, and the other way around', async () => {
    await connectAs('old', 'ada', {}, { consumerName: 'Ada' });
    const people = () =>
      test.database.raw(`SELECT consumer_ref, name FROM consumer WHERE consumer_ref LIKE 'ad_'`);
    expect(await people()).toEqual([{ consumer_ref: 'ada', name: 'ada' }]);
    await test.database.raw(
      `INSERT INTO consumer (project_id, consumer_ref, name) SELECT project_id, 'ade', 'Ade' FROM consumer WHERE consumer_ref = 'ada'`,
    );
    for (const [groupRef, name] of [
      ['old', 'Ade'],
      ['north', 'ade'],
    ] as const) {
      await test.database.raw(
        `INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, credentials)
         SELECT project_id, gen_random_uuid(), provider, '${groupRef}', 'ade', auth_scheme, status, credentials
         FROM connection WHERE consumer_ref = 'ada'`,
      );
      const [made] = await connectionsOf(groupRef, '&consumerRef=ade');
      expect(made!.consumer.consumerName).toBe(name);
    }
  });

  it('who deletes an installation deletes a connection of their own with it, and not a colleague’s', async () => {
    const anns = await connected('family', 'ann');
    const ben = await tokenOf('family', 'ben');
    const first = await install('family', { connectionId: anns });
    expect((await remove(first.body.id, ben)).status).toBe(204);
    expect(await statusOf(anns)).toBe(200);
    const taken = await install('family', { connectionId: anns }, ben);
    expect(taken.status).toBe(201);
    expect((await remove(taken.body.id, ben)).status).toBe(204);
    expect(await statusOf(anns)).toBe(200);
    const own = await install('family', { connectionId: anns }, await tokenOf('family', 'ann'));
    expect((await remove(own.body.id, await tokenOf('family', 'ann'))).status).toBe(204);
    expect(await statusOf(anns)).toBe(404);
    const again = await connected('family', 'ann');
    const last = await install('family', { connectionId: again });
    expect((await remove(last.body.id)).status).toBe(204);
    expect(await statusOf(again)).toBe(404);
  });

  it('a connection is not deleted under an installation that is made meanwhile', async () => {
    for (let round = 0; round < 8; round += 1) {
      const groupRef = `race-${round}`;
      const connectionId = await connected(groupRef, 'ann');
      const first = await install(groupRef, { connectionId });
      const [, second] = await Promise.all([
        remove(first.body.id),
        install(groupRef, { connectionId }, {}, 'hubspot-no-proxy'),
      ]);
      expect([201, 404, 422]).toContain(second.status);
      const left = await statusOf(connectionId);
      expect(second.status === 201 ? left : 200).toBe(200);
    }
  });

  it('a token sets no destination but that of the manifest; a key may', async () => {
    const put = (name: string) =>
      platform.call('POST', `${at}/destinations`, {
        name,
        type: 'webhook',
        metadata: { url: 'https://example.com/hook' },
      });
    for (const name of ['d', 'other']) expect((await put(name)).status).toBe(201);
    const connectionId = await connected('sent', 'ann');
    const ann = await tokenOf('sent', 'ann');
    const reading = (destination?: string) => ({
      provider: 'hubspot',
      read: { objects: { contacts: { objectName: 'contacts', ...(destination ? { destination } : {}) } } },
    });
    const path = 'config.content.read.objects.contacts.destination';
    const refused = { status: 422, body: { code: 'config-invalid', issues: [{ name: path }] } };
    const create = (destination: string, who: CallOptions) =>
      install('sent', { connectionId, config: { content: reading(destination) } }, who);
    expect(await create('other', ann)).toMatchObject(refused);
    const made = await create('d', ann);
    expect(made.status).toBe(201);
    const patch = (destination: string, who: CallOptions) =>
      platform.call<ProblemBody>(
        'PATCH',
        `${at}/integrations/hubspot-crm/installations/${made.body.id}`,
        {
          updateMask: ['config.content.read.objects.contacts'],
          installation: { config: { content: reading(destination) } },
        },
        who,
      );
    const jsonPatch = (value: string, who: CallOptions) =>
      platform.call<ProblemBody>(
        'PATCH',
        `${at}/integrations/hubspot-crm/objects/contacts/config-content`,
        { groupRef: 'sent', action: 'read', changes: [{ op: 'add', path: '/destination', value }] },
        who,
      );
    expect(await patch('other', ann)).toMatchObject(refused);
    expect(await jsonPatch('other', ann)).toMatchObject({ ...refused, body: { code: 'config-invalid' } });
    expect((await patch('other', {})).status).toBe(200);
    // What a key has set stays when a token changes something else.
    const kept = await platform.call(
      'PATCH',
      `${at}/integrations/hubspot-crm/objects/contacts/config-content`,
      {
        groupRef: 'sent',
        action: 'read',
        changes: [{ op: 'add', path: '/selectedFieldMappings', value: { phone: 'phone' } }],
      },
      ann,
    );
    expect(kept.status).toBe(200);
  });

  it('a token names a group that has no name; only a key names it anew', async () => {
    const ann = await tokenOf('named', 'ann');
    const nameOf = async () => (await connectionsOf('named'))[0]!.group.groupName;
    await connectAs('named', 'ann', ann, { groupName: 'First' });
    expect(await nameOf()).toBe('First');
    await connectAs('named', 'ann', ann, { groupName: 'Hijacked' });
    expect(await nameOf()).toBe('First');
    await connectAs('named', 'ann', {}, { groupName: 'Second' });
    expect(await nameOf()).toBe('Second');
    for (const groupName of ['a\r\nb', '\u202Egpj.exe', '   ', '\u2067x'])
      expect(await connectAs('named', 'ann', {}, { groupName })).toMatchObject({
        status: 400,
        body: { issues: [{ name: 'groupName' }] },
      });
  });

  it('a token previews with its own connection or that of the installation, not with another colleague’s', async () => {
    const anns = await connected('look', 'ann');
    await simulator(platform.hubspot, 'POST', '/consent', { mode: 'approve' });
    const preview = (who: CallOptions, connectionId?: string) =>
      platform.call<ProblemBody>(
        'POST',
        `${at}/integrations/hubspot-crm/objects/contacts/read-preview`,
        {
          groupRef: 'look',
          ...(connectionId ? { connectionId } : {}),
          config: {
            content: { provider: 'hubspot', read: { objects: { contacts: { objectName: 'contacts' } } } },
          },
        },
        who,
      );
    const [ann, ben] = [await tokenOf('look', 'ann'), await tokenOf('look', 'ben')];
    expect(await preview(ben, anns)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await preview(ben)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await preview(ann, anns)).status).toBe(200);
    expect((await preview({}, anns)).status).toBe(200);
    expect((await install('look', { connectionId: anns })).status).toBe(201);
    expect((await preview(ben, anns)).status).toBe(200);
  });

  it('the page of links tells strangers neither that a project is there nor its origins', async () => {
    const allowedOrigins = ['https://app.example.com'];
    const project = { updateMask: ['allowedOrigins'], project: { allowedOrigins } };
    expect((await platform.call('PATCH', at, project)).status).toBe(200);
    // As an older release stored them.
    await test.database.raw(
      `UPDATE project SET allowed_origins = allowed_origins || '{https://*,https://a;sandbox}'::text[]`,
    );
    const seenAt = async (name: string) => {
      const answer = await fetch(`${platform.base}/connect/${name}`, { method: 'HEAD' });
      return [answer.status, answer.headers.get('content-security-policy')];
    };
    const nobody = await seenAt('01920000-0000-7000-8000-000000000000');
    expect(await seenAt('default')).toEqual(nobody);
    expect(await seenAt('nothing')).toEqual(nobody);
    const frames = async () => String((await seenAt(platform.projectId))[1]).split('frame-ancestors')[1];
    await expect.poll(frames, { timeout: 5_000 }).toBe(" 'self' https://app.example.com");
  });
});
