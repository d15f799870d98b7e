import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import type { Page } from '../kit/paging-schema.ts';
import { createHarness, type Answer, type Body, type Harness } from './harness.fixture.ts';
import type { Config } from './schema.ts';

let on: Harness;
let groupRef: string;
let id: string;
let place: string;
let groups = 0;

const contacts = {
  objectName: 'contacts',
  schedule: '0 * * * *',
  selectedFieldMappings: { nick: 'firstname' },
};
const content = {
  provider: 'hubspot',
  read: { objects: { contacts } },
  write: {
    objects: {
      contacts: { objectName: 'contacts', selectedFieldSettings: { city: { writeOnUpdate: 'never' } } },
    },
  },
};

beforeAll(async () => {
  on = await createHarness(await startHubspot({ records: 5 }));
});
beforeEach(async () => {
  groupRef = `group-${(groups += 1)}`;
  await on.connect(groupRef);
  const made = await on.call('POST', '/integrations/crm/installations', { groupRef, config: { content } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.json));
  id = made.json.id;
  place = `/integrations/crm/installations/${id}`;
});
afterAll(() => on?.close());

const current = async () => (await on.call('GET', place)).json;
const patch = (updateMask: string[], installation: object, query = '') =>
  on.call('PATCH', `${place}${query}`, { updateMask, installation });
const changing = (part: object) => ({ config: { content: part } });
const patchObject = (
  action: string,
  changes: object[],
  objectName = 'contacts',
  target: object = { groupRef },
) =>
  on.call('PATCH', `/integrations/crm/objects/${objectName}/config-content`, { ...target, action, changes });
const issuesOf = (answer: Answer) => answer.json.issues?.map(({ name }) => name);

async function configs(): Promise<{ id: string; content: unknown }[]> {
  const rows = await on.ground.database.raw(
    'SELECT id, content FROM config WHERE installation_id = $1 ORDER BY id',
    [id],
  );
  return rows as { id: string; content: unknown }[];
}

/** Of the one key that the harness calls with. */
async function keyIds(): Promise<unknown[]> {
  return (await on.ground.database.raw('SELECT id FROM api_key')).map(({ id: key }) => key);
}

describe('installations/change', () => {
  describe('update', () => {
    it('warns of a mapping to a name that the integration does not ask for, with the name that was probably meant', async () => {
      const mapped = { ...contacts, selectedFieldMappings: { nick: 'firstname', nik: 'lastname' } };
      const changed = await patch(
        ['config.content.read.objects.contacts'],
        changing({ read: { objects: { contacts: mapped } } }),
      );
      expect(changed).toMatchObject({
        status: 200,
        json: {
          warnings: [
            {
              message:
                'config.content.read.objects.contacts.selectedFieldMappings.nik: the integration asks for no mapping "nik"; did you mean "nick"?',
            },
          ],
        },
      });
      expect(
        (await patch(['config.content.read.objects.contacts'], changing({ read: { objects: { contacts } } })))
          .json,
      ).not.toHaveProperty('warnings');
    });

    it('changes no config that somebody else changed before, where the request says which it was made on', async () => {
      const { config: first } = await current();
      const masks = ['config.content.write.objects.contacts'];
      const to = (city: string) =>
        changing({
          write: { objects: { contacts: { objectName: 'contacts', inheritMapping: city === 'mapped' } } },
        });
      expect((await patch(masks, to('mapped'), `?ifConfigId=${first.id}`)).status).toBe(200);
      const late = await patch(masks, to('plain'), `?ifConfigId=${first.id}`);
      expect(late).toMatchObject({ status: 409, json: { code: 'config-changed' } });
      const { config: second } = await current();
      expect(second.content.write?.objects?.['contacts']).toMatchObject({ inheritMapping: true });
      expect((await patch(masks, to('plain'), `?ifConfigId=${second.id}`)).status).toBe(200);
    });

    it('§4.4 update: replaces the masked object, keeps the rest, and leaves the config before it as it was', async () => {
      const before = await current();
      const replaced = {
        objectName: 'contacts',
        selectedFields: { city: true },
        selectedFieldMappings: { nick: 'firstname' },
      };
      const answer = await patch(
        ['config.content.read.objects.contacts'],
        changing({ read: { objects: { contacts: replaced } } }),
      );
      expect(answer.status).toBe(200);
      expect(answer.json.config.content).toEqual({ ...content, read: { objects: { contacts: replaced } } });
      const [keyId] = await keyIds();
      expect(answer.json.config).toMatchObject({ createdBy: `api:${String(keyId)}` });
      expect(answer.json.config.id).not.toBe(before.config.id);
      expect(await configs()).toEqual([
        { id: before.config.id, content },
        { id: answer.json.config.id, content: answer.json.config.content },
      ]);
    });

    it('§4.4 update: a sub-path changes one member', async () => {
      const answer = await patch(
        ['config.content.read.objects.contacts.disabled'],
        changing({ read: { objects: { contacts: { disabled: true } } } }),
      );
      expect(answer.json.config.content.read?.objects['contacts']).toEqual({ ...contacts, disabled: true });
    });

    it('§4.4 update: the whole config is checked again', async () => {
      const broken = changing({ read: { objects: { contacts: { objectName: 'contacts' } } } });
      const answer = await patch(['config.content.read.objects.contacts'], broken);
      expect(answer).toMatchObject({ status: 422, json: { code: 'config-invalid' } });
      expect(issuesOf(answer)).toEqual(['config.content.read.objects.contacts.selectedFieldMappings.nick']);
      const shapeless = changing({ read: { objects: { fresh: { schedule: '0 * * * *' } } } });
      const other = await patch(['config.content.read.objects.fresh'], shapeless);
      expect(other).toMatchObject({ status: 400, json: { code: 'invalid-request' } });
      expect(issuesOf(other)).toEqual(['config.content.read.objects.fresh.objectName']);
      expect(await configs()).toHaveLength(1);
    });

    it('§4.4 update: fields newly named are looked up at the provider unless skipSampling', async () => {
      const part = changing({
        write: { objects: { contacts: { objectName: 'contacts', selectedFieldSettings: { ciyt: {} } } } },
      });
      const mask = ['config.content.write.objects.contacts'];
      expect(issuesOf(await patch(mask, part))).toEqual([
        'config.content.write.objects.contacts.selectedFieldSettings.ciyt',
      ]);
      expect((await patch(mask, part, '?skipSampling=true')).status).toBe(200);
      // What is in force already does not stand in the way of another change.
      expect(
        (await patch(['config.content.proxy.enabled'], changing({ proxy: { enabled: false } }))).status,
      ).toBe(200);
    });

    it('§4.4 updateMask: an unknown mask and one without a value are 400', async () => {
      expect(issuesOf(await patch(['config.content.provider'], {}))).toEqual(['updateMask[0]']);
      expect((await patch(['connectionId'], {})).status).toBe(400);
    });

    it('§2.2 connectionId: another connection of the group takes over; another group’s does not exist', async () => {
      const newer = await on.connect(groupRef, 'second');
      const swapped = await patch(['connectionId'], { connectionId: newer });
      expect(swapped.json.connection?.id).toBe(newer);
      expect(swapped.json.config.content).toEqual(content);
      const foreign = await on.connect(`${groupRef}-foreign`);
      expect((await patch(['connectionId'], { connectionId: foreign })).status).toBe(404);
    });

    it('§2.2 createdBy: one of its forms', async () => {
      expect(
        (await patch(['config.createdBy'], { config: { createdBy: 'builder:7' } })).json.config.createdBy,
      ).toBe('builder:7');
      expect(issuesOf(await patch(['config.createdBy'], { config: { createdBy: '7' } }))).toEqual([
        'config.createdBy',
      ]);
      expect((await current()).createdBy).toBe('api:create-installation');
    });

    it('two changes at once both hold', async () => {
      const answers = await Promise.all([
        patch(
          ['config.content.read.objects.contacts.schedule'],
          changing({ read: { objects: { contacts: { schedule: '30 * * * *' } } } }),
        ),
        patch(['config.content.proxy.enabled'], changing({ proxy: { enabled: false } })),
      ]);
      expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
      expect((await current()).config.content).toMatchObject({
        proxy: { enabled: false },
        read: { objects: { contacts: { schedule: '30 * * * *' } } },
      });
    });

    it('an object that a later revision dropped does not stand in the way of other changes', async () => {
      const dropped = await on.connect(`${groupRef}-x`);
      expect(dropped).toBeDefined();
      const yaml = (object: string) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: shrinking\n    provider: hubspot\n    write:\n      objects: [{ objectName: contacts }, { objectName: ${object} }]\n`;
      await on.call('PUT', '/integrations:batch', { sourceYaml: yaml('deals') });
      const write = { objects: { deals: { objectName: 'deals' }, contacts: { objectName: 'contacts' } } };
      const config = { content: { provider: 'hubspot', write } };
      const made = await on.call('POST', '/integrations/shrinking/installations', {
        groupRef: `${groupRef}-x`,
        config,
      });
      expect(made.status).toBe(201);
      await on.call('PUT', '/integrations:batch', { sourceYaml: yaml('companies') });
      const url = `/integrations/shrinking/installations/${made.json.id}`;
      const deleting = { objectName: 'contacts', deletionSettings: { enabled: true } };
      const body = {
        updateMask: ['config.content.write.objects.contacts'],
        installation: changing({ write: { objects: { contacts: deleting } } }),
      };
      const answer = await on.call('PATCH', url, body);
      expect(answer).toMatchObject({
        status: 200,
        json: { config: { content: { write: { objects: { deals: {}, contacts: deleting } } } } },
      });
      expect(answer.json.config.revisionId).not.toBe(made.json.config.revisionId);
    });
  });

  describe('JSON Patch', () => {
    it('§4.5 changes: add, replace and remove, together, by group', async () => {
      const answer = await patchObject('write', [
        { op: 'add', path: '/deletionSettings', value: { enabled: false } },
        { op: 'replace', path: '/deletionSettings/enabled', value: true },
        { op: 'remove', path: '/selectedFieldSettings/city' },
      ]);
      expect(answer.status).toBe(200);
      expect(answer.json.config.content).toEqual({
        ...content,
        write: {
          objects: {
            contacts: {
              objectName: 'contacts',
              deletionSettings: { enabled: true },
              selectedFieldSettings: {},
            },
          },
        },
      });
      expect(await configs()).toHaveLength(2);
    });

    it('§4.5 target: by installation id; both or neither are refused', async () => {
      const changes = [{ op: 'replace', path: '/schedule', value: '15 * * * *' }];
      const answer = await patchObject('read', changes, 'contacts', { installationId: id });
      expect(answer.json.config.content.read?.objects['contacts']?.schedule).toBe('15 * * * *');
      expect(
        issuesOf(await patchObject('read', changes, 'contacts', { installationId: id, groupRef })),
      ).toEqual(['installationId']);
      expect(issuesOf(await patchObject('read', changes, 'contacts', {}))).toEqual(['groupRef']);
      expect(await patchObject('read', changes, 'contacts', { groupRef: 'nobody' })).toMatchObject({
        status: 404,
        json: { code: 'installation-not-found' },
      });
    });

    it('§4.5 path: a target that is not there is refused by its place, and nothing is changed', async () => {
      const answer = await patchObject('read', [
        { op: 'replace', path: '/schedule', value: '15 * * * *' },
        { op: 'replace', path: '/destination', value: 'hook' },
      ]);
      expect(answer).toMatchObject({
        status: 400,
        json: { issues: [{ in: 'body', name: 'changes[1].path', value: '/destination' }] },
      });
      expect(await configs()).toHaveLength(1);
    });

    it('§4.5 result: shape and rules are checked', async () => {
      const shape = await patchObject('read', [{ op: 'replace', path: '/schedule', value: 5 }]);
      expect(shape.status).toBe(400);
      expect(issuesOf(shape)).toEqual(['config.content.read.objects.contacts.schedule']);
      const rule = await patchObject('read', [{ op: 'replace', path: '/schedule', value: '* * * * *' }]);
      expect(rule.status).toBe(422);
      expect(issuesOf(rule)).toEqual(['config.content.read.objects.contacts.schedule']);
    });

    it('§4.5 object: one without a config is added whole, and removed whole', async () => {
      const changes = [{ op: 'add', path: '/deletionSettings', value: { enabled: true } }];
      expect((await patchObject('write', changes, 'companies')).status).toBe(404);
      const whole = { objectName: 'companies', deletionSettings: { enabled: true } };
      const added = await patchObject('write', [{ op: 'add', path: '', value: whole }], 'companies');
      expect(added.json.config.content.write?.objects?.['companies']).toEqual(whole);
      const removed = await patchObject('write', [{ op: 'remove', path: '' }], 'companies');
      expect(removed.json.config.content).toEqual(content);
    });

    it('§4.5 op: others than add, remove and replace are 400, as are no changes', async () => {
      expect((await patchObject('read', [{ op: 'move', path: '/a', from: '/b' }])).status).toBe(400);
      expect((await patchObject('read', [])).status).toBe(400);
      expect((await patchObject('proxy', [{ op: 'remove', path: '' }])).status).toBe(400);
    });
  });

  it('lists the configs of before, and restores one whole', async () => {
    const [first] = await configs();
    const { contacts: kept, ...others } = { ...content.write.objects };
    expect(others).toEqual({});
    const changed = { ...content, read: { objects: {} }, write: { objects: { people: kept } } };
    const replaced = await patch(['config.content'], changing(changed), `?ifConfigId=${first?.id}`);
    expect(replaced).toMatchObject({ status: 200, json: { config: { content: changed } } });
    const list = async (query: string) =>
      (await on.call<Page<Config> & Body>('GET', `/installations/${id}/configs${query}`)).json;
    const newest = await list('?pageSize=1');
    expect(newest.results).toEqual([replaced.json.config]);
    const older = await list(`?pageToken=${newest.pagination.nextPageToken}`);
    expect(older).toMatchObject({ results: [{ id: first?.id, content }], pagination: { done: true } });
    const restored = await patch(['config.content'], changing(older.results[0]?.content ?? {}));
    expect(restored.json.config.content).toEqual(content);
    expect((await current()).config.content).toEqual(content);
    expect(await configs()).toHaveLength(3);
    expect((await on.call('GET', `/installations/${id}`)).json).toEqual(await current());
    expect((await on.call('GET', '/installations/none/configs')).status).toBe(404);
    expect((await list('?pageToken=no')).issues).toMatchObject([{ name: 'pageToken' }]);
  });

  it('refuses a whole config as it refuses one that is made', async () => {
    const answer = await patch(
      ['config.content'],
      changing({ provider: 'salesforce', read: { objects: {} } }),
    );
    expect(answer.status).toBe(422);
    expect(issuesOf(answer)?.[0]).toMatch(/^config\.content/);
  });
});
