import { describe, expect, it } from 'vitest';
import { at, check, found, withLines, withRead } from './check.fixture.ts';

const whole = `specVersion: 1.0.0
integrations:
  - name: crmSync
    displayName: CRM sync
    provider: hubspot
    module: crm
    read:
      objects:
        - objectName: contacts
          destination: hook
          schedule: '*/30 * * * *'
          enabled: always
          mapToName: people
          mapToDisplayName: People
          requiredFields:
            - fieldName: email
          optionalFields:
            - fieldName: $['properties']['phone']
              mapToName: phone
              mapToDisplayName: Phone
            - mapToName: tier
              prompt: Which field holds the tier?
              default: hs_tier
          optionalFieldsAuto: all
          backfill:
            defaultPeriod:
              days: 30
        - objectName: companies
          destination: hook
          backfill:
            defaultPeriod:
              fullHistory: true
    write:
      objects:
        - objectName: contacts
          inheritMapping: true
          valueDefaults:
            allowAnyFields: true
    proxy:
      enabled: true
      useModule: true
`;

describe('src/projects/manifest/validate', () => {
  it('takes a manifest that uses every key, and gives it back as written', () => {
    const { manifest, errors, warnings } = check(whole);
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    expect(manifest?.integrations[0]).toMatchObject({
      name: 'crmSync',
      proxy: { enabled: true, useModule: true },
    });
    expect(manifest?.integrations[0]?.read?.objects[0]?.optionalFields?.[1]).toEqual({
      mapToName: 'tier',
      prompt: 'Which field holds the tier?',
      default: 'hs_tier',
    });
  });

  it.each([
    ['an empty text', '', 'yaml-empty  1:1'],
    ['nothing but a comment', '# svc\n---\n', 'yaml-empty  1:1'],
    ['text that is no map', 'hello', 'type  1:1'],
    ['another version', whole.replace('1.0.0', '2.0.0'), 'spec-version specVersion 1:1'],
    ['a version that YAML reads as a number', whole.replace('1.0.0', '1.0'), 'spec-version specVersion 1:1'],
    ['no integrations', 'specVersion: 1.0.0\nintegrations: []\n', 'too-few integrations 2:1'],
    ['an absent name', whole.replace('name: crmSync\n    ', ''), `required ${at}.name 3:5`],
    ['a name with a space', whole.replace('crmSync', 'crm sync'), `name-form ${at}.name 3:5`],
    ['a name of 65 characters', whole.replace('crmSync', 'x'.repeat(65)), `name-form ${at}.name 3:5`],
    [
      'a name like an id',
      whole.replace('crmSync', '0190a5d4-7d3c-7a2b-8c1d-2e3f4a5b6c7d'),
      `name-form ${at}.name 3:5`,
    ],
    [
      'a display name of 101 characters',
      whole.replace('CRM sync', 'x'.repeat(101)),
      `too-long ${at}.displayName 4:5`,
    ],
    [
      'a key in another case',
      whole.replace('objectName: companies', 'objectname: companies'),
      `required ${at}.read.objects[1].objectName 28:11`,
    ],
    [
      'a key with a dot',
      withLines('    a.b: 1\n    proxy: { enabled: true }\n'),
      `unknown-key ${at}["a.b"] 5:5`,
    ],
    [
      'a mapped name with U+0000',
      whole.replace('- mapToName: tier', '- mapToName: "ti\\0er"'),
      `name-form ${at}.read.objects[0].optionalFields[1].mapToName 21:15`,
    ],
    ['no action', withLines(''), `no-action ${at} 3:5`],
    [
      'an action without its object list',
      withLines('    read:\n    proxy: { enabled: true }\n'),
      `type ${at}.read 5:5`,
    ],
    ['an empty object list', withLines('    write:\n      objects: []\n'), `too-few ${at}.write.objects 6:7`],
    ['a proxy block without enabled', withLines('    proxy: {}\n'), `required ${at}.proxy.enabled 5:5`],
    ['text for true', withLines('    proxy: { enabled: yes }\n'), `type ${at}.proxy.enabled 5:14`],
    [
      'an unknown provider',
      withLines('    proxy: { enabled: true }\n', 'hubspott'),
      `provider-unknown ${at}.provider 4:5`,
    ],
    [
      'a provider in another case',
      withLines('    proxy: { enabled: true }\n', 'HubSpot'),
      `provider-unknown ${at}.provider 4:5`,
    ],
    [
      'an unknown module',
      withLines('    module: crn\n    proxy: { enabled: true }\n'),
      `module-unknown ${at}.module 5:5`,
    ],
    [
      'useModule without a module',
      withLines('    proxy: { enabled: true, useModule: true }\n', 'notion'),
      `module-unknown ${at}.proxy.useModule 5:29`,
    ],
    [
      'a write the provider lacks',
      withLines('    write: { objects: [{ objectName: a }] }\n', 'snowflake'),
      `provider-ability ${at}.write 5:5`,
    ],
    [
      'a duplicate object',
      withLines('    write:\n      objects:\n        - objectName: a\n        - objectName: A\n'),
      `object-duplicate ${at}.write.objects[1].objectName 8:11`,
    ],
  ])('refuses %s', (_name, text, expected) => {
    expect(check(text).manifest).toBeUndefined();
    expect(found(text)).toContain(expected);
  });

  it('says which actions a provider has, when one is declared that it lacks', () => {
    const writes = withLines('    write: { objects: [{ objectName: a }] }\n', 'snowflake');
    const finding = check(writes).errors.find(({ rule }) => rule === 'provider-ability');
    expect(finding?.message).toBe('the connector of snowflake has no write action; what it has: read, proxy');

    const reads = withLines('    read: { objects: [{ objectName: a, destination: d }] }\n', 'notion');
    expect(check(reads).errors.find(({ rule }) => rule === 'provider-ability')?.message).toBe(
      'the connector of notion has no read action; what it has: proxy',
    );
  });

  it('refuses a write of a module that the connector does not speak to', () => {
    const lines = '    module: marketing\n    write: { objects: [{ objectName: a }] }\n';
    expect(found(withLines(lines))).toEqual([`provider-ability ${at}.write 6:5`]);
    expect(check(withLines(lines)).errors[0]?.message).toContain('the module marketing of hubspot');
    expect(found(withLines(lines.replace('marketing', 'crm')))).toEqual([]);
  });

  it('refuses a name that stands twice, at its second place', () => {
    const entry = '  - name: a\n    provider: hubspot\n    proxy: { enabled: true }\n';
    expect(found(`specVersion: 1.0.0\nintegrations:\n${entry}${entry}`)).toEqual([
      'integration-duplicate integrations[1].name 6:5',
    ]);
  });

  it('says what was probably meant', () => {
    const suggestion = (text: string): string | undefined => check(text).errors[0]?.suggestion;
    expect(suggestion(whole.replace('displayName:', 'displayname:'))).toBe('Did you mean displayName?');
    expect(
      suggestion(withLines('    proxi: { enabled: true }\n    write: { objects: [{ objectName: a }] }\n')),
    ).toBe('Did you mean proxy?');
    expect(suggestion(withLines('    proxy: { enabled: true }\n', 'Hubspot'))).toBe('Did you mean hubspot?');
    expect(suggestion(withRead("          schedule: '* * * * *'\n"))).toBe('*/10 * * * *');
  });

  it('does not say of an object that it is not read where its entry has a fault', () => {
    const text = whole.replace('prompt: Which field holds the tier?', 'prompt: 7');
    expect(found(text).filter((one) => one.startsWith('inherit-mapping'))).toEqual([]);
    expect(found(text)).toHaveLength(1);
  });

  it('finds every error at once, in the order of the lines', () => {
    const text = whole
      .replace('hubspot', 'hubspott')
      .replace("'*/30 * * * *'", "'* * * * *'")
      .replace('inheritMapping: true', 'inheritMapping: 1');
    expect(check(text).errors.map(({ rule, line }) => `${rule} ${line}`)).toEqual([
      'provider-unknown 5',
      'schedule 11',
      'type 36',
    ]);
  });

  it('silences the warnings that a comment names, on its line and on the next', () => {
    const frequent = (before: string, after: string): string =>
      withRead(`${before}          schedule: '*/10 * * * *'${after}\n`);
    expect(found(frequent('          # svc:ignore[schedule-frequent]\n', ''))).toEqual([]);
    expect(found(frequent('', ' # svc:ignore[other, schedule-frequent]'))).toEqual([]);
    expect(found(frequent('          # svc:ignore[backfill-large]\n', ''))).toHaveLength(1);
    expect(
      found(withRead("          # svc:ignore[schedule]\n          schedule: '* * * * *'\n")),
    ).toHaveLength(1);
  });
});
