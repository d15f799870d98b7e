import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { newId } from '../kit/ids.ts';
import type { DeployImpact, DeployPreview, ManifestField, ManifestReadObject } from '../projects/schema.ts';
import type { ReadObjectConfig } from './config/schema.ts';
import { effectiveReadObject } from './effective-read.ts';
import { createHarness, type Harness } from './harness.fixture.ts';

const withProxy = { proxy: { enabled: true } };
/** The first object that is read begins in line 9. */
const yamlOf = (objects: readonly object[], more: object): string => {
  const read = objects.length > 0 ? { read: { objects } } : {};
  const integrations = [{ name: 'planned', provider: 'hubspot', ...read, ...more }];
  return JSON.stringify({ specVersion: '1.0.0', integrations }, undefined, 1);
};

/** The same numbers every time. */
function chance(seed: number): (of: number) => number {
  let state = seed;
  return (of) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * of);
  };
}

describe('installations/impacts', () => {
  let harness: Harness;
  let integrationId = '';
  let connectionId = '';
  beforeAll(async () => {
    harness = await createHarness(await startHubspot());
    connectionId = await harness.connect('acme');
    await deploy([{ objectName: 'contacts', destination: 'hook', optionalFieldsAuto: 'all' }]);
    integrationId = (await harness.call('GET', '/integrations/planned')).json.id;
  }, 60_000);
  afterEach(() => clear());
  afterAll(() => harness.close());

  const put = async <Json>(
    objects: readonly object[],
    query = '',
    more: object = withProxy,
  ): Promise<Json> => {
    const { status, json } = await harness.call<Json>('PUT', `/integrations:batch${query}`, {
      sourceYaml: yamlOf(objects, more),
    });
    if (status !== 200) throw new Error(JSON.stringify(json));
    return json;
  };
  const deploy = (objects: readonly object[], more?: object) =>
    put<{ warnings?: object[] }[]>(objects, '', more);
  async function planned(
    objects: readonly object[],
    query = '',
    more?: object,
  ): Promise<DeployPreview['integrations'][0]> {
    const { integrations } = await put<DeployPreview>(objects, `?dryRun=true${query}`, more);
    return integrations[0]!;
  }

  /** Installations as rows; their connections are looked at by nobody but a plan. */
  const install = (configs: readonly (object | undefined)[]): Promise<void> =>
    installAs(configs.map((contacts) => (contacts ? { read: { objects: { contacts } } } : {})));
  async function installAs(configs: readonly object[]): Promise<void> {
    await harness.ground.database.raw(
      `WITH given AS (SELECT * FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::json[]) AS g (id, config_id, group_ref, content)),
         made AS (INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
           SELECT $1, id, $2, group_ref, $3, config_id, 'api:test' FROM given)
       INSERT INTO config (project_id, installation_id, id, revision_id, created_by, content)
       SELECT $1, id, config_id, $2, 'api:test', content FROM given`,
      [
        harness.projectId,
        integrationId,
        connectionId,
        configs.map(() => newId()),
        configs.map(() => newId()),
        configs.map((_, n) => `group-${n}`),
        configs.map((content) => JSON.stringify({ provider: 'hubspot', ...content })),
      ],
    );
  }
  /** As a deploy leaves it, which waits for two seconds where something is installed. */
  const declare = (object: ManifestReadObject) =>
    harness.ground.database.raw(
      `UPDATE revision SET content = $3 WHERE project_id = $1
         AND id = (SELECT latest_revision_id FROM integration WHERE project_id = $1 AND id = $2)`,
      [
        harness.projectId,
        integrationId,
        JSON.stringify({
          name: 'planned',
          provider: 'hubspot',
          read: { objects: [object] },
          proxy: { enabled: true },
        }),
      ],
    );
  const clear = () =>
    harness.ground.database.raw('DELETE FROM installation WHERE project_id = $1 AND integration_id = $2', [
      harness.projectId,
      integrationId,
    ]);

  it('says of any change what becomes of what is delivered, as it is delivered before and after', async () => {
    const next = chance(20_261_122);
    const anyField = (fieldName: string) => {
      const mapped = next(3);
      const mapToName = ['', `my_${fieldName}`, `your_${fieldName}`][mapped];
      return { fieldName, ...(mapToName ? { mapToName } : {}) };
    };
    const anyObject = (): ManifestReadObject => {
      const forAll = next(3) === 0;
      const places = ['email', 'phone', 'city'].map((name) => [anyField(name), next(3)] as const);
      // Where it is read for all nobody is asked, and nothing required is mapped.
      const asked = forAll ? [] : ['rank', 'nick'].map((mapToName) => [{ mapToName }, next(3)] as const);
      const of = (place: number) =>
        [...places, ...asked].flatMap(([one, at]): ManifestField[] => (at === place ? [one] : []));
      return {
        objectName: 'contacts',
        destination: 'hook',
        optionalFieldsAuto: 'all',
        ...(forAll || next(2) === 0 ? { schedule: '0 * * * *' } : {}),
        requiredFields: forAll ? of(1).map(({ fieldName }) => ({ fieldName: fieldName! })) : of(1),
        optionalFields: of(2),
        ...(forAll && of(1).length > 0 ? { enabled: 'always' } : {}),
      };
    };
    const anyConfig = (): ReadObjectConfig | undefined => {
      if (next(6) === 0) return undefined;
      if (next(4) === 0) return { objectName: 'Contacts', selectedFieldsAuto: 'all' };
      const selected = ['email', 'phone', 'city'].flatMap((name) =>
        next(2) ? [[name, next(4) > 0] as const] : [],
      );
      const mapped = ['rank', 'nick', 'my_email'].flatMap((name) => (next(3) ? [] : [[name, 'website']]));
      return {
        objectName: 'contacts',
        selectedFields: Object.fromEntries(selected),
        selectedFieldMappings: Object.fromEntries(mapped) as Record<string, string>,
        ...(next(3) === 0 ? { schedule: '0 5 * * *' } : {}),
      };
    };
    const configs = Array.from({ length: 20 }, anyConfig);
    await install(configs);
    let before = anyObject();
    for (let round = 0; round < 25; round += 1) {
      const after = anyObject();
      await declare(before);
      const expected = new Map<string, string[]>();
      for (const [n, config] of configs.entries())
        for (const what of consequences(before, after, config))
          expected.set(what, [...(expected.get(what) ?? []), `group-${n}`]);
      const { impacts, installations, change } = await planned([after]);
      expect(installations).toBe(configs.length);
      const wanted = new Map([...expected].map(([key, refs]) => [key, refs.toSorted()]));
      const told = change === 'unchanged' ? wanted : new Map(impacts.map((one) => [keyOf(one), groups(one)]));
      expect({ before, after, told: byKey(told) }).toEqual({ before, after, told: byKey(wanted) });
      before = after;
    }
  }, 60_000);

  it('tells who gets an object under another name, and that a table of that name lacks the rest', async () => {
    const read = (mapToName?: string) => ({
      objectName: 'contacts',
      destination: 'hook',
      optionalFieldsAuto: 'all' as const,
      ...(mapToName === undefined ? {} : { mapToName }),
    });
    await deploy([read('people')]);
    await install([{ objectName: 'contacts', selectedFieldsAuto: 'all' }, undefined]);
    for (const next of [read('humans'), read()])
      expect((await planned([next])).impacts).toMatchObject([
        { kind: 'renamesObject', object: 'contacts', count: 1, installations: [{ groupRef: 'group-0' }] },
      ]);
    const [deployed] = await deploy([read('humans')]);
    expect(deployed?.warnings).toMatchObject([
      {
        rule: 'object-renamed',
        path: 'integrations[0].read.objects[0]',
        line: 9,
        message: expect.stringContaining('will get contacts as humans, and as people no more') as string,
      },
    ]);
    expect((await planned([read('humans')])).change).toBe('unchanged');
  });

  it('warns of nothing that a comment of the manifest silences', async () => {
    const read = { objectName: 'contacts', destination: 'hook', optionalFieldsAuto: 'all' };
    await deploy([{ ...read, mapToName: 'people' }]);
    await install([{ objectName: 'contacts', selectedFieldsAuto: 'all' }]);
    const sourceYaml = yamlOf([read], withProxy).replace(
      /(?<=\{)(?=\s*"objectName")/,
      ' # svc:ignore[object-renamed]',
    );
    const { json } = await harness.call<DeployPreview>('PUT', '/integrations:batch?dryRun=true', {
      sourceYaml,
    });
    expect(json.integrations[0]?.impacts).toMatchObject([{ kind: 'renamesObject' }]);
    expect(json.warnings).toEqual([]);
  });

  it('tells who is no longer read by the schedule of the manifest: not those that have one of their own', async () => {
    const read = { objectName: 'contacts', destination: 'hook', optionalFieldsAuto: 'all' };
    await deploy([{ ...read, schedule: '0 * * * *' }]);
    const config = { objectName: 'contacts', selectedFieldsAuto: 'all' };
    await install([config, { ...config, schedule: '0 5 * * *' }, undefined]);
    expect((await planned([{ ...read, schedule: '0 6 * * *' }])).impacts).toEqual([]);
    expect((await planned([read])).impacts).toMatchObject([
      { kind: 'losesSchedule', object: 'contacts', count: 1, installations: [{ groupRef: 'group-0' }] },
    ]);
    const [deployed] = await deploy([read]);
    expect(deployed?.warnings).toMatchObject([
      {
        rule: 'schedule-taken-away',
        message:
          'contacts is no longer read by a schedule in 1 installation, whose config has none of its own',
      },
    ]);
  });

  it('tells who loses the proxy: not those that switched it off', async () => {
    const read = { objectName: 'contacts', destination: 'hook', optionalFieldsAuto: 'all' };
    await deploy([read]);
    await installAs([{}, { proxy: { enabled: false } }, { proxy: { enabled: true } }]);
    const lost = { kind: 'losesProxy', count: 2, installations: [{}, {}] };
    const off = { proxy: { enabled: false } };
    for (const more of [{}, off]) {
      const { impacts } = await planned([read], '', more);
      expect(impacts).toMatchObject([lost]);
      expect(impacts[0]).not.toHaveProperty('object');
      expect(groups(impacts[0]!)).toEqual(['group-0', 'group-2']);
    }
    const [deployed] = await deploy([read], off);
    expect(deployed?.warnings).toMatchObject([
      {
        rule: 'proxy-taken-away',
        message: 'calls through the proxy are refused from now on for 2 installations',
      },
    ]);
    expect((await planned([read], '', {})).impacts).toEqual([]);
  });

  it('tells whose writes lose the names that the mapping gives: not those that decide that themselves', async () => {
    const read = { objectName: 'contacts', destination: 'hook', requiredFields: [{ mapToName: 'rank' }] };
    const writing = (object: object) => ({ write: { objects: [{ objectName: 'contacts', ...object }] } });
    await deploy([read], writing({ inheritMapping: true }));
    const reads = {
      objects: { contacts: { objectName: 'contacts', selectedFieldMappings: { rank: 'city' } } },
    };
    const writes = (object: object) => ({ objects: { contacts: { objectName: 'contacts', ...object } } });
    await installAs([
      { read: reads },
      { read: reads, write: writes({}) },
      { read: reads, write: writes({ inheritMapping: true }) },
      { read: reads, write: writes({ inheritMapping: false }) },
    ]);
    for (const less of [{}, { inheritMapping: false }]) {
      const { impacts } = await planned([read], '', writing(less));
      expect(impacts).toMatchObject([{ kind: 'losesMapping', object: 'contacts', count: 2 }]);
      expect(groups(impacts[0]!)).toEqual(['group-0', 'group-1']);
    }
    const [deployed] = await deploy([read], writing({}));
    expect(deployed?.warnings).toMatchObject([
      {
        rule: 'mapping-taken-away',
        message:
          "writes of contacts take the provider's names of fields only from now on for 2 installations",
      },
    ]);
  });

  it('counts ten thousand, tells the newest twenty of each, and warns of the same at a deploy', async () => {
    const required = (fieldName: string) => ({
      objectName: 'contacts',
      destination: 'hook',
      requiredFields: [{ fieldName }],
    });
    await deploy([required('email')]);
    const config = { objectName: 'contacts', selectedFields: { city: true, phone: false } };
    await install(Array.from({ length: 10_000 }, () => config));
    const asked = vi.spyOn(harness.ground.database, 'rows');
    const { impacts } = await planned([required('phone')]);
    // One statement for all, not one for each.
    expect(asked.mock.calls.length).toBeGreaterThan(0);
    expect(asked.mock.calls.length).toBeLessThan(50);
    expect(impacts).toMatchObject([
      { kind: 'losesField', object: 'contacts', field: 'email', count: 10_000 },
    ]);
    expect(impacts[0]!.installations).toHaveLength(20);
    expect(impacts[0]!.installations[0]).toMatchObject({ groupRef: 'group-9999' });

    const gone = await planned([], '&destructive=true');
    expect(gone).toMatchObject({ installations: 10_000, impacts: [{ kind: 'stopsReading', count: 10_000 }] });
    const [deployed] = await deploy([required('phone')]);
    expect(deployed?.warnings).toContainEqual(
      expect.objectContaining({
        rule: 'field-taken-away',
        path: 'integrations[0].read.objects[0]',
        message: '10000 installations will not get contacts.email any more',
      }),
    );
  }, 60_000);

  it('tells which connections were not granted what the app asks for', async () => {
    await deploy([{ objectName: 'contacts', destination: 'hook', optionalFieldsAuto: 'all' }]);
    await install([undefined]);
    const next = [{ objectName: 'companies', destination: 'hook', optionalFieldsAuto: 'all' }];
    expect((await planned(next)).impacts).toEqual([]);
    await harness.ground.database.raw(
      `UPDATE connection SET scopes = '{oauth}',
         provider_app_id = (SELECT id FROM provider_app WHERE project_id = $1 AND provider = 'hubspot')
       WHERE project_id = $1 AND id = $2`,
      [harness.projectId, connectionId],
    );
    await harness.ground.database.raw(
      `UPDATE provider_app SET scopes = '{OAuth,openid,crm.objects.companies.read}' WHERE project_id = $1`,
      [harness.projectId],
    );
    expect((await planned(next)).impacts).toEqual([
      {
        kind: 'lacksScope',
        scope: 'crm.objects.companies.read',
        count: 1,
        installations: [{ id: expect.any(String) as string, groupRef: 'group-0' }],
      },
    ]);
  }, 60_000);
});

const keyOf = ({ kind, field }: DeployImpact): string => [kind, field].filter(Boolean).join(' ');
const byKey = (told: Map<string, string[]>) => Object.fromEntries(told);
const groups = ({ installations }: DeployImpact): string[] =>
  installations.map(({ groupRef }) => groupRef).toSorted();

/** By what is read and delivered for the installation before and after. */
function consequences(
  before: ManifestReadObject,
  after: ManifestReadObject,
  config: ReadObjectConfig | undefined,
): string[] {
  const [was, is] = [before, after].map(({ enabled }) => config !== undefined || enabled === 'always');
  const names = (object: ManifestReadObject): Set<string> => {
    const { all, fields, mappings } = effectiveReadObject('contacts', object, config);
    return new Set([...fields, ...Object.keys(mappings), ...(all ? ['email', 'phone', 'city'] : [])]);
  };
  const [timed, stillTimed] = [before, after].map(
    (object) => effectiveReadObject('contacts', object, config).schedule !== undefined,
  );
  const left = names(after);
  const lost = was && is ? [...names(before)].filter((name) => !left.has(name)) : [];
  const asked = (after.requiredFields ?? []).flatMap(({ fieldName, mapToName = '' }) =>
    fieldName === undefined && !config?.selectedFieldMappings?.[mapToName] ? [mapToName] : [],
  );
  return [
    ...(was && !is ? ['stopsReading'] : []),
    ...(is && !was ? ['startsReading'] : []),
    ...(was && is && timed && !stillTimed ? ['losesSchedule'] : []),
    ...lost.map((name) => `losesField ${name}`),
    ...(is ? asked.map((name) => `needsMapping ${name}`) : []),
  ];
}
