import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effectiveWriteObject, recordOperationsEnd } from './index.ts';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from './harness.fixture.ts';

let on: Harness;
beforeAll(async () => {
  on = await createHarness(await startHubspot({ records: 5 }));
});
afterAll(() => on?.close());

async function install(groupRef: string, integration = 'other', key?: string) {
  const config = {
    content: { provider: 'hubspot', write: { objects: { contacts: { objectName: 'contacts' } } } },
  };
  const made = await on.call('POST', `/integrations/${integration}/installations`, { groupRef, config }, key);
  if (made.status !== 201) throw new Error(JSON.stringify(made.json));
  return made.json;
}
const idsOf = (answer: { json: { id: string }[] }) => answer.json.map(({ id }) => id);

describe('installations/installations', () => {
  describe('get, list, delete', () => {
    it('§4.1 list: by integration and by project, newest first, also of one group', async () => {
      await on.connect('l1');
      await on.connect('l2');
      const [one, two, three] = [await install('l1'), await install('l2'), await install('l1', 'crm')];
      expect(idsOf(await on.call('GET', '/integrations/other/installations'))).toEqual([two.id, one.id]);
      expect(idsOf(await on.call('GET', '/integrations/other/installations?groupRef=l1'))).toEqual([one.id]);
      expect(idsOf(await on.call('GET', '/installations'))).toEqual([three.id, two.id, one.id]);
      const [listed] = (await on.call<unknown[]>('GET', '/installations?groupRef=l2')).json;
      expect(listed).toEqual((await on.call('GET', `/integrations/other/installations/${two.id}`)).json);
      expect(idsOf(await on.call('GET', '/installations?groupRef=nobody'))).toEqual([]);
    });

    it('an installation is found under its own integration only', async () => {
      await on.connect('own');
      const { id } = await install('own');
      expect((await on.call('GET', `/integrations/crm/installations/${id}`)).json.code).toBe(
        'installation-not-found',
      );
      expect((await on.call('GET', '/integrations/crm/installations/nonsense')).status).toBe(404);
    });

    it('deleting takes the configs along, and the connection unless another installation uses it', async () => {
      const connectionId = await on.connect('d');
      const [first, second] = [await install('d'), await install('d', 'crm')];
      expect((await on.call('DELETE', `/integrations/other/installations/${first.id}`)).status).toBe(204);
      expect((await on.call('GET', `/connections/${connectionId}`)).status).toBe(200);
      expect((await on.call('DELETE', `/integrations/crm/installations/${second.id}`)).status).toBe(204);
      expect((await on.call('GET', `/connections/${connectionId}`)).status).toBe(404);
      const left = await on.ground.database.raw('SELECT id FROM config WHERE installation_id = ANY ($1)', [
        [first.id, second.id],
      ]);
      expect(left).toEqual([]);
      expect((await on.call('DELETE', `/integrations/crm/installations/${second.id}`)).status).toBe(404);
    });

    it('records what happens to an installation, by names and ids, with its configs', async () => {
      const connectionId = await on.connect('told');
      const made = await install('told');
      const place = `/integrations/other/installations/${made.id}`;
      const { content } = made.config;
      const contacts = { objectName: 'contacts', deletionSettings: { enabled: true } };
      const config = { content: { ...content, write: { objects: { contacts } } } };
      const changed = await on.call('PATCH', place, {
        updateMask: ['config.content.write.objects.contacts'],
        installation: { config: { content: { write: { objects: { contacts } } } } },
      });
      expect(changed).toMatchObject({ status: 200 });
      await on.call('DELETE', place);
      type Told = { results: { type: string; installationId: string; data: Record<string, unknown> }[] };
      const { results } = (await on.call<Told>('GET', `/events?connectionId=${connectionId}`)).json;
      expect(results.map(({ type }) => type)).toEqual([
        'connection.deleted',
        'installation.deleted',
        'installation.updated',
        'installation.created',
        'connection.created',
      ]);
      const [, , updated, created] = results;
      expect(created).toMatchObject({ installationId: made.id });
      expect(created!.data).toEqual({
        projectId: on.projectId,
        provider: 'hubspot',
        integrationId: made.integrationId,
        integrationName: 'other',
        installationId: made.id,
        connectionId,
        groupRef: 'told',
        groupName: 'Group told',
        consumerRef: expect.any(String) as string,
        consumerName: expect.any(String) as string,
        config: content,
      });
      expect(updated!.data).toMatchObject({ config: config.content, lastConfig: content });
    });

    it('§3 tells where a large config is read instead of telling it, so that a message stays within its size', async () => {
      await on.connect('large');
      const { id, config: first } = await install('large');
      const place = `/integrations/other/installations/${id}`;
      const change = (contacts: object) =>
        on.call('PATCH', `${place}?skipSampling=true`, {
          updateMask: ['config.content.write.objects.contacts'],
          installation: { config: { content: { write: { objects: { contacts } } } } },
        });
      const fields = Array.from({ length: 200 }, (_, at) => [
        `f${at}`,
        { default: { stringValue: 'é'.repeat(400) } },
      ]);
      const large = { objectName: 'contacts', selectedFieldSettings: Object.fromEntries(fields) as object };
      expect((await change(large)).status).toBe(200);
      expect((await change({ objectName: 'contacts' })).status).toBe(200);
      type Told = { results: { data: Record<string, unknown> }[] };
      const { results } = (await on.call<Told>('GET', '/events?type=installation.updated&pageSize=2')).json;
      const [last, before] = results.map(({ data }) => data);
      const configURL = expect.stringMatching(
        new RegExp(`^http.*/v1/projects/${on.projectId}/installations/${id}/configs$`),
      ) as string;
      expect(before).toMatchObject({ configURL, lastConfig: first.content });
      expect(before).not.toHaveProperty('config');
      expect(last).toMatchObject({ lastConfigURL: configURL, config: first.content });
      expect(last).not.toHaveProperty('lastConfig');
      const path = new URL(String(before?.['configURL'])).pathname.replace(/^.*?(?=.installations)/, '');
      const { json } = await on.call<{ results: { content: object }[] }>('GET', path);
      expect(json.results.map(({ content }) => JSON.stringify(content).length > 60_000)).toEqual([
        false,
        true,
        false,
      ]);
    });

    it('deleting an integration deletes its installations', async () => {
      const sourceYaml =
        'specVersion: 1.0.0\nintegrations:\n  - name: brief\n    provider: hubspot\n    write:\n      objects: [{ objectName: contacts }]\n';
      await on.call('PUT', '/integrations:batch', { sourceYaml });
      await on.connect('brief');
      const { id } = await install('brief', 'brief');
      expect((await on.call('DELETE', '/integrations/brief')).status).toBe(204);
      expect(idsOf(await on.call('GET', '/installations?groupRef=brief'))).toEqual([]);
      const deleted = await on.call<{ results: { installationId: string }[] }>(
        'GET',
        '/events?type=installation.deleted&pageSize=1',
      );
      expect(deleted.json.results).toMatchObject([{ installationId: id }]);
      expect(await on.ground.database.raw('SELECT id FROM config WHERE installation_id = $1', [id])).toEqual(
        [],
      );
    });
  });

  describe('health', () => {
    it('follows the share of what failed of late, not the last operation alone', async () => {
      await on.connect('h1');
      const { id } = await install('h1');
      const health = async () => {
        const { json } = await on.call('GET', `/integrations/other/installations/${id}`);
        return [json.healthStatus, json.lastOperationStatus];
      };
      const end = async (last: 'success' | 'failure', ended = 1) => {
        const failed = last === 'failure' ? ended : 0;
        const of = { projectId: on.projectId, installationId: id, last, ended, failed };
        await recordOperationsEnd(on.ground.database, of);
      };
      expect(await health()).toEqual(['healthy', undefined]);
      await end('failure');
      expect(await health()).toEqual(['healthy', 'failure']);
      await end('failure');
      expect(await health()).toEqual(['unhealthy', 'failure']);
      await end('success', 3);
      expect(await health()).toEqual(['healthy', 'success']);
      // Of many that went well, six failures are too few; what fails all the time is found with the seventh.
      await end('success', 500);
      for (let n = 0; n < 6; n += 1) await end('failure');
      expect(await health()).toEqual(['healthy', 'failure']);
      await end('failure');
      expect(await health()).toEqual(['unhealthy', 'failure']);
      await end('success');
      expect(await health()).toEqual(['healthy', 'success']);
    });

    it('is unhealthy when the credentials stopped working, and when the connection is gone', async () => {
      const connectionId = await on.connect('h2');
      const { id } = await install('h2');
      await on.connections.markBadCredentials(on.projectId, connectionId, 1, 'revoked');
      const place = `/integrations/other/installations/${id}`;
      expect((await on.call('GET', place)).json).toMatchObject({
        healthStatus: 'unhealthy',
        connection: { status: 'bad_credentials' },
      });
      const bad = await on.call('GET', '/connections?status=bad_credentials&pageSize=10');
      expect((bad.json as unknown as { results: { id: string }[] }).results.map((one) => one.id)).toEqual([
        connectionId,
      ]);
      expect((await on.call('GET', '/connections?groupRef=h2&status=working')).json).toEqual([]);
      await on.call('DELETE', `/connections/${connectionId}`);
      const gone = (await on.call('GET', place)).json;
      expect(gone.healthStatus).toBe('unhealthy');
      expect(gone.connection).toBeUndefined();
      const listed = async (healthStatus: string): Promise<boolean> => {
        const { json } = await on.call('GET', `/installations?groupRef=h2&healthStatus=${healthStatus}`);
        return (json as unknown as { id: string }[]).some((one) => one.id === id);
      };
      expect([await listed('unhealthy'), await listed('healthy')]).toEqual([true, false]);
    });
  });

  describe('a caller confined to a group', () => {
    it('sees, makes and changes its own group’s installations only', async () => {
      await on.connect('mine');
      const theirConnection = await on.connect('theirs');
      const theirs = await install('theirs');
      const key = await on.key({ scopes: ['frontend'], groupRef: 'mine' });
      const mine = await install('mine', 'other', key);
      const foreign = `/integrations/other/installations/${theirs.id}`;
      const updateMask = ['config.content.proxy.enabled'];
      const change = { updateMask, installation: { config: { content: { proxy: { enabled: false } } } } };
      expect(idsOf(await on.call('GET', '/installations', undefined, key))).toEqual([mine.id]);
      expect(
        idsOf(await on.call('GET', '/integrations/other/installations?groupRef=theirs', undefined, key)),
      ).toEqual([]);
      const changes = [{ op: 'add', path: '/inheritMapping', value: true }];
      const objectPath = '/integrations/other/objects/contacts/config-content';
      const config = { content: { provider: 'hubspot' } };
      const refused = [
        await on.call('GET', foreign, undefined, key),
        await on.call('PATCH', foreign, change, key),
        await on.call('DELETE', foreign, undefined, key),
        await on.call('PATCH', objectPath, { groupRef: 'theirs', action: 'write', changes }, key),
        await on.call('PATCH', objectPath, { installationId: theirs.id, action: 'write', changes }, key),
        await on.call('POST', '/integrations/crm/installations', { groupRef: 'theirs', config }, key),
        await on.call(
          'POST',
          '/integrations/crm/installations',
          { groupRef: 'mine', connectionId: theirConnection, config },
          key,
        ),
        await on.call('GET', '/providers/hubspot/objects/contacts/metadata?groupRef=theirs', undefined, key),
        await on.call('GET', '/integrations/crm/objects/contacts/metadata?groupRef=theirs', undefined, key),
      ];
      expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404));
      const own = `/integrations/other/installations/${mine.id}`;
      expect((await on.call('PATCH', own, change, key)).status).toBe(200);
      expect((await on.call('DELETE', own, undefined, key)).status).toBe(204);
    });

    it('a key of scope read reads and does not change', async () => {
      await on.connect('reader');
      const { id } = await install('reader');
      const key = await on.key({ scopes: ['read'] });
      const place = `/integrations/other/installations/${id}`;
      expect((await on.call('GET', place, undefined, key)).status).toBe(200);
      expect((await on.call('DELETE', place, undefined, key)).status).toBe(403);
    });
  });

  describe('targets', () => {
    it('are found by installation, and by integration id or name with the group; then remembered until changed', async () => {
      const connectionId = await on.connect('t1');
      const { id, integrationId, config } = await install('t1');
      const selectors = [
        { installationId: id },
        { integration: 'other', groupRef: 't1' },
        { integration: integrationId, groupRef: 't1' },
      ];
      const { installations, projectId } = on;
      const targets = await Promise.all(
        selectors.map((selector) => installations.findTarget(projectId, selector)),
      );
      for (const target of targets) {
        expect(target).toEqual({
          projectId,
          integrationId,
          integrationName: 'other',
          provider: 'hubspot',
          revisionId: config.revisionId,
          manifest: expect.objectContaining({ name: 'other', provider: 'hubspot' }),
          installationId: id,
          groupRef: 't1',
          configId: config.id,
          content: config.content,
          connectionId,
          connectionDetail: undefined,
          connectionIsMoved: false,
          connectionStatus: expect.stringMatching(/created|working/),
          healthStatus: 'healthy',
        });
      }
      expect(selectors.map((selector) => installations.peekTarget(projectId, selector)?.configId)).toEqual(
        selectors.map(() => config.id),
      );
      const changes = [{ op: 'add', path: '/deletionSettings', value: { enabled: true } }];
      const changed = await on.call('PATCH', '/integrations/other/objects/contacts/config-content', {
        groupRef: 't1',
        action: 'write',
        changes,
      });
      expect(selectors.map((selector) => installations.peekTarget(projectId, selector))).toEqual(
        selectors.map(() => undefined),
      );
      const fresh = await installations.findTarget(projectId, selectors[1]!);
      expect(fresh?.configId).toBe(changed.json.config.id);
      expect(fresh && effectiveWriteObject(fresh, 'contacts')).toMatchObject({
        declared: true,
        deletionEnabled: true,
      });
      await on.call('DELETE', `/integrations/other/installations/${id}`);
      const after = await Promise.all(
        selectors.map((selector) => installations.findTarget(projectId, selector)),
      );
      expect(after).toEqual([undefined, undefined, undefined]);
    });

    it('that cannot exist are not looked for', async () => {
      const find = (selector: Parameters<typeof on.installations.findTarget>[1]) =>
        on.installations.findTarget(on.projectId, selector);
      expect(await find({ installationId: 'x' })).toBeUndefined();
      expect(await find({ integration: 'other', groupRef: 'nul\0nul' })).toBeUndefined();
      expect(await find({ integration: "'; --", groupRef: 'nobody' })).toBeUndefined();
      expect(await find({ integration: on.projectId, groupRef: 't1' })).toBeUndefined();
    });

    it('of another project are not found', async () => {
      await on.connect('t2');
      const { id } = await install('t2');
      const other = await on.projects.create({ name: 'elsewhere' });
      expect(await on.installations.findTarget(other.id, { installationId: id })).toBeUndefined();
      expect(
        await on.installations.findTarget(other.id, { integration: 'other', groupRef: 't2' }),
      ).toBeUndefined();
    });
  });
});
