import { describe, expect, it } from 'vitest';
import { at, check, found, objectAt, withLines, withRead } from '../check.fixture.ts';

describe('src/projects/manifest/rules/read', () => {
  it.each([
    [
      'a schedule too often',
      withRead("          schedule: '*/5 * * * *'\n"),
      `schedule ${objectAt}.schedule 9:11`,
    ],
    ['a schedule that is a number', withRead('          schedule: 5\n'), `type ${objectAt}.schedule 9:11`],
    [
      'a schedule without a destination',
      withLines("    read:\n      objects:\n        - objectName: a\n          schedule: '0 * * * *'\n"),
      `required ${objectAt}.destination 7:11`,
    ],
    [
      'days and fullHistory',
      withRead('          backfill: { defaultPeriod: { days: 3, fullHistory: true } }\n'),
      `backfill-period ${objectAt}.backfill.defaultPeriod 9:23`,
    ],
    [
      'neither days nor fullHistory',
      withRead('          backfill: { defaultPeriod: {} }\n'),
      `backfill-period ${objectAt}.backfill.defaultPeriod 9:23`,
    ],
    [
      'fullHistory false alone',
      withRead('          backfill: { defaultPeriod: { fullHistory: false } }\n'),
      `backfill-period ${objectAt}.backfill.defaultPeriod 9:23`,
    ],
    [
      'a backfill without a period',
      withRead('          backfill: {}\n'),
      `required ${objectAt}.backfill.defaultPeriod 9:11`,
    ],
    [
      'negative days',
      withRead('          backfill: { defaultPeriod: { days: -1 } }\n'),
      `out-of-range ${objectAt}.backfill.defaultPeriod.days 9:40`,
    ],
    [
      'half a day',
      withRead('          backfill: { defaultPeriod: { days: 0.5 } }\n'),
      `type ${objectAt}.backfill.defaultPeriod.days 9:40`,
    ],
    [
      'always without required fields',
      withRead("          enabled: always\n          schedule: '0 * * * *'\n"),
      `always-enabled ${objectAt}.requiredFields 7:11`,
    ],
    [
      'always without a schedule',
      withRead('          enabled: always\n          requiredFields: [{ fieldName: a }]\n'),
      `always-enabled ${objectAt}.schedule 7:11`,
    ],
    [
      'always with a mapped field',
      withRead(
        "          enabled: always\n          schedule: '0 * * * *'\n          requiredFields: [{ fieldName: a, mapToName: b }]\n",
      ),
      `always-enabled ${objectAt}.requiredFields[0].mapToName 11:44`,
    ],
    [
      'another value of enabled',
      withRead('          enabled: never\n'),
      `allowed-value ${objectAt}.enabled 9:11`,
    ],
    [
      'a field entry without a name',
      withRead('          optionalFields: [{ prompt: a }]\n'),
      `field-entry ${objectAt}.optionalFields[0] 9:28`,
    ],
    [
      'a nested path in dot form',
      withRead('          optionalFields: [{ fieldName: $.a.b }]\n'),
      `field-path ${objectAt}.optionalFields[0].fieldName 9:30`,
    ],
    [
      'a nested path with an empty segment',
      withRead(`          optionalFields: [{ fieldName: "$['a']['']" }]\n`),
      `field-path ${objectAt}.optionalFields[0].fieldName 9:30`,
    ],
    [
      'two fields with one mapToName',
      withRead(
        '          requiredFields: [{ fieldName: a, mapToName: x }]\n          optionalFields: [{ mapToName: x }]\n',
      ),
      `map-to-name-duplicate ${objectAt}.optionalFields[0].mapToName 10:30`,
    ],
    [
      'another value of optionalFieldsAuto',
      withRead('          optionalFieldsAuto: none\n'),
      `allowed-value ${objectAt}.optionalFieldsAuto 9:11`,
    ],
    [
      'a backfill of calendar events over 28 days',
      withLines(
        '    module: calendar\n    read: { objects: [{ objectName: events, destination: d, backfill: { defaultPeriod: { days: 29 } } }] }\n',
        'google',
      ),
      `backfill-of-provider ${objectAt}.backfill.defaultPeriod 6:73`,
    ],
    [
      'a backfill of Snowflake by days',
      withRead('          backfill: { defaultPeriod: { days: 3 } }\n', 'snowflake'),
      `backfill-of-provider ${objectAt}.backfill.defaultPeriod 9:23`,
    ],
  ])('refuses %s', (_name, text, expected) => {
    expect(check(text).manifest).toBeUndefined();
    expect(found(text)).toContain(expected);
  });

  it('takes a bare object for one that is only searched, with a warning', () => {
    expect(found(withLines('    read:\n      objects:\n        - objectName: a\n'))).toEqual([
      `destination-missing ${objectAt}.destination 7:11`,
    ]);
  });

  it.each([
    [
      'a prompt nobody sees',
      withRead('          optionalFields: [{ fieldName: a, prompt: b }]\n'),
      `field-prompt-unused ${objectAt}.optionalFields[0].prompt 9:44`,
    ],
    [
      'a field twice',
      withRead(
        '          requiredFields: [{ fieldName: a }]\n          optionalFields: [{ fieldName: A }]\n',
      ),
      `field-duplicate ${objectAt}.optionalFields[0].fieldName 10:30`,
    ],
    [
      'a frequent schedule',
      withRead("          schedule: '*/10 * * * *'\n"),
      `schedule-frequent ${objectAt}.schedule 9:11`,
    ],
    [
      'a large backfill',
      withRead('          backfill: { defaultPeriod: { days: 366 } }\n'),
      `backfill-large ${objectAt}.backfill.defaultPeriod.days 9:40`,
    ],
    [
      'the deprecated delivery',
      withRead('          delivery: { mode: onRequest, pageSize: 50 }\n'),
      `deprecated ${objectAt}.delivery 9:11`,
    ],
    [
      'mappings of an object that is not read',
      withLines('    write: { objects: [{ objectName: a, inheritMapping: true }] }\n'),
      `inherit-mapping-without-read ${at}.write.objects[0].inheritMapping 5:41`,
    ],
    [
      'mappings by the name that an object is read as',
      withRead('          mapToName: people\n').replace(
        /\n*$/,
        '\n    write: { objects: [{ objectName: People, inheritMapping: true }] }\n',
      ),
      `inherit-mapping-without-read ${at}.write.objects[0].inheritMapping 10:46`,
    ],
  ])('warns of %s and takes the manifest', (_name, text, expected) => {
    expect(found(text)).toContain(expected);
    expect(check(text).manifest).toBeDefined();
  });

  it.each([
    ['onRequest without a page size', 'mode: onRequest', 'delivery-page-size'],
    ['a page size for auto', 'pageSize: 60', 'delivery-page-size'],
    ['a page size under 50', 'mode: onRequest, pageSize: 49', 'out-of-range'],
  ])('refuses %s', (_name, delivery, rule) => {
    const text = withRead(`          delivery: { ${delivery} }\n`);
    expect(check(text).errors.map((issue) => issue.rule)).toEqual([rule]);
  });

  it.each([
    ['a rhythm under an hour', "objects: [companies], schedule: '*/30 * * * *'", 'schedule'],
    ['an object twice', 'objects: [companies, Companies]', 'object-duplicate'],
    ['no object', 'objects: []', 'too-few'],
  ])('refuses associations with %s', (_name, associations, rule) => {
    const text = withRead(`          associations: { ${associations} }\n`);
    expect(check(text).errors.map((issue) => issue.rule)).toEqual([rule]);
  });

  it('refuses associations where the connector reads none', () => {
    const asked = '          associations: { objects: [Account] }\n';
    expect(found(withRead(asked, 'salesforce'))).toContain(`provider-ability ${objectAt}.associations 9:11`);
    expect(check(withRead(asked)).errors).toEqual([]);
  });

  it('a fault in one key hides none of another', () => {
    const lines = [
      "          schedule: '*/5 * * * *'",
      '          backfill: { fullHistory: true }',
      '          requiredFields: [{ fieldName: $.a }]',
      '          delivery: { mode: onRequest }',
    ];
    expect(found(withRead(`${lines.join('\n')}\n`)).map((one) => one.split(':')[0])).toEqual([
      `schedule ${objectAt}.schedule 9`,
      `required ${objectAt}.backfill.defaultPeriod 10`,
      `unknown-key ${objectAt}.backfill.fullHistory 10`,
      `field-path ${objectAt}.requiredFields[0].fieldName 11`,
      `delivery-page-size ${objectAt}.delivery.pageSize 12`,
      `deprecated ${objectAt}.delivery 12`,
    ]);
    // What is no object has no keys.
    const list = withLines('    read:\n      objects: [[], text, null]\n');
    expect(found(list).map((one) => one.split(' ')[0])).toEqual(['type', 'type', 'type']);
  });
});
