import { describe, expect, it } from 'vitest';
import { compileShape } from './check-shape.ts';
import { renderPath } from './finding.ts';
import { Manifest } from './schema.ts';

const check = compileShape(Manifest);

const sound = {
  specVersion: '1.0.0',
  'x-shared': { anything: [1, null] },
  integrations: [
    {
      name: 'mine',
      displayName: 'Mine',
      provider: 'hubspot',
      read: {
        objects: [
          {
            objectName: 'contacts',
            destination: 'hook',
            requiredFields: [{ fieldName: 'email' }],
            backfill: { defaultPeriod: { days: 3 } },
            delivery: { mode: 'onRequest', pageSize: 50 },
          },
        ],
      },
      write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
      subscribe: {
        objects: [
          {
            objectName: 'contacts',
            destination: 'hook',
            updateEvent: { enabled: 'always', watchFieldsAuto: 'all' },
          },
        ],
      },
      proxy: { enabled: true },
      watchSchema: { destination: 'hook', allObjects: { fieldCreated: { enabled: 'always' } } },
    },
  ],
};

const integration = (part: object): unknown => ({
  ...sound,
  integrations: [{ ...sound.integrations[0], ...part }],
});
const long = 'x'.repeat(300);

describe('src/projects/manifest/check-shape', () => {
  it('finds nothing in a sound manifest', () => {
    expect(check(sound)).toEqual([]);
  });

  it.each<[path: string, rule: string, value: unknown, message: RegExp, suggestion?: string]>([
    ['', 'type', 7, /^must be a map of keys$/],
    ['specVersion', 'spec-version', { ...sound, specVersion: '2.0.0' }, /^must be 1\.0\.0$/],
    ['specVersion', 'spec-version', { ...sound, specVersion: 1 }, /^must be 1\.0\.0$/],
    ['integrations', 'required', { specVersion: '1.0.0' }, /^is required$/],
    ['integrations', 'type', { ...sound, integrations: {} }, /^must be a list$/],
    ['integrations', 'too-few', { ...sound, integrations: [] }, /^must have at least 1 entry$/],
    [
      'integrations[0].write.objects',
      'too-many',
      integration({ write: { objects: Array.from({ length: 1_001 }, () => ({ objectName: 'a' })) } }),
      /^must have at most 1000 entries$/,
    ],
    ['integrations[0].provider', 'required', integration({ provider: '' }), /^must not be empty$/],
    [
      'integrations[0].displayName',
      'too-long',
      integration({ displayName: long }),
      /^must have at most \d+ /,
    ],
    ['integrations[0].name', 'type', integration({ name: 12 }), /^must be text$/, "Put it in quotes: '12'"],
    [
      'integrations[0].read.objects[0].destination',
      'name-form',
      integration({ read: { objects: [{ objectName: 'contacts', destination: 'in box' }] } }),
      /letters, digits and dashes/,
    ],
    ['integrations[0].name', 'name-form', integration({ name: 'a/b' }), /^is not allowed\. /],
    [
      'integrations[0].proxy.enabled',
      'type',
      integration({ proxy: { enabled: 1 } }),
      /^must be true or false$/,
    ],
    ['integrations[0].prox', 'unknown-key', integration({ prox: {} }), /^is not a known key$/, 'proxy'],
    [
      'integrations[0].title',
      'unknown-key',
      integration({ title: 'mine' }),
      /known key/,
      'Known here: name, displayName, provider, ',
    ],
    ['integrations[0].nmae', 'unknown-key', integration({ nmae: 'mine' }), /known key/, 'name'],
    [
      'integrations[0].write.objects[0].mapTo',
      'unknown-key',
      integration({ write: { objects: [{ objectName: 'a', mapTo: 'b' }] } }),
      /known key/,
      'Known here: objectName, inheritMapping, valueDefaults',
    ],
    [
      'integrations[0].read.objects[0].backfill.period',
      'unknown-key',
      integration({ read: { objects: [{ objectName: 'a', backfill: { defaultPeriod: {}, period: 1 } }] } }),
      /known key/,
      'Known here: defaultPeriod',
    ],
    ['integrations[0].objects', 'unknown-key', integration({ objects: [] }), /known key/, 'below read'],
    [
      'integrations[0]["<<"]',
      'unknown-key',
      integration({ '<<': sound }),
      /^merges another map, which is not taken here$/,
      'An alias may stand',
    ],
    ['integrations[0]["a.b"]', 'unknown-key', integration({ 'a.b': 1 }), /^is not a known key$/],
  ])('says at %j: %s', (path, rule, value, message, suggestion) => {
    const [found, ...others] = check(value);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      severity: 'error',
      rule,
      message: expect.stringMatching(message) as string,
    });
    expect(renderPath(found!.path)).toBe(path);
    expect(found!.suggestion ?? '').toContain(suggestion ?? '');
  });

  it('does not ask whether the only allowed value was meant', () => {
    expect(check({ ...sound, specVersion: 'v1.0.0' })).toEqual([
      { severity: 'error', rule: 'spec-version', path: ['specVersion'], message: 'must be 1.0.0' },
    ]);
  });

  it('places what it finds below where the value stands, every fault once', () => {
    const found = check({ specVersion: 1, integrations: [{ name: '' }] }, ['body', 0]);
    expect(found.map(({ path }) => renderPath(path)).toSorted()).toEqual([
      'body[0].integrations[0].name',
      'body[0].integrations[0].provider',
      'body[0].specVersion',
    ]);
  });

  it('does not change what it checks', () => {
    const value = structuredClone(sound);
    check(value);
    expect(value).toEqual(sound);
  });
});
