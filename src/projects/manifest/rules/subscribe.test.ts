import { describe, expect, it } from 'vitest';
import { at, check, found, withLines, withSubscribe } from '../check.fixture.ts';

describe('src/projects/manifest/rules/subscribe', () => {
  it('takes the later actions and says that they do nothing yet', () => {
    const text = withSubscribe(
      [
        '          inheritFieldsAndMapping: true',
        '          createEvent: { enabled: always }',
        '          updateEvent: { enabled: always, requiredWatchFields: [email] }',
        '          deleteEvent: { enabled: always }',
        '          associationChangeEvent: { enabled: always, includeFullRecords: true }',
        '          otherEvents: [contact.merge]',
        '    watchSchema:',
        '      destination: hook',
        '      schedule: "0 */24 * * *"',
        '      allObjects: { fieldCreated: { enabled: always } }',
        '',
      ].join('\n'),
    );
    const { manifest, warnings } = check(text);
    expect(manifest).toBeDefined();
    expect(warnings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      `not-active-yet ${at}.subscribe`,
      `not-active-yet ${at}.watchSchema`,
    ]);
  });

  const subscribeAt = `${at}.subscribe.objects[0]`;
  it.each([
    [
      'record events without inheritance',
      '          createEvent: { enabled: always }\n',
      'hubspot',
      `subscribe-inherit ${subscribeAt}.inheritFieldsAndMapping 11:11`,
    ],
    [
      'contradicting spellings of inheritance',
      '          inheritFieldsAndMapping: true\n          inheritFieldsAndMappings: false\n',
      'hubspot',
      `subscribe-inherit ${subscribeAt}.inheritFieldsAndMappings 14:11`,
    ],
    [
      'an update without a watch method',
      '          inheritFieldsAndMapping: true\n          updateEvent: { enabled: always }\n',
      'hubspot',
      `watch-method ${subscribeAt}.updateEvent 14:11`,
    ],
    [
      'two watch methods',
      '          inheritFieldsAndMapping: true\n          updateEvent: { enabled: always, watchFieldsAuto: all, requiredWatchFields: [a] }\n',
      'hubspot',
      `watch-method ${subscribeAt}.updateEvent 14:11`,
    ],
    [
      'a nested watch field',
      '          inheritFieldsAndMapping: true\n          updateEvent: { enabled: always, requiredWatchFields: [a.b] }\n',
      'hubspot',
      `watch-field-nested ${subscribeAt}.updateEvent.requiredWatchFields[0] 14:65`,
    ],
    [
      'single watch fields for Salesloft',
      '          inheritFieldsAndMapping: true\n          updateEvent: { enabled: always, requiredWatchFields: [a] }\n',
      'salesloft',
      `watch-method ${subscribeAt}.updateEvent 14:11`,
    ],
    [
      'associations of another provider',
      '          inheritFieldsAndMapping: true\n          associationChangeEvent: { enabled: always }\n',
      'salesforce',
      `association-event ${subscribeAt}.associationChangeEvent 14:11`,
    ],
    [
      'another value of an event',
      '          deleteEvent: { enabled: never }\n',
      'hubspot',
      `allowed-value ${subscribeAt}.deleteEvent.enabled 13:26`,
    ],
  ])('refuses %s in a subscription', (_name, lines, provider, expected) => {
    expect(found(withSubscribe(lines, provider))).toContain(expected);
    expect(check(withSubscribe(lines, provider)).manifest).toBeUndefined();
  });

  it('wants a read block, and the object in it, beside a subscription', () => {
    const text = withLines(
      '    subscribe:\n      objects:\n        - objectName: a\n          destination: d\n          inheritFieldsAndMappings: true\n          createEvent: { enabled: always }\n',
    );
    expect(found(text)).toEqual(
      expect.arrayContaining([
        `subscribe-needs-read ${at}.subscribe 5:5`,
        `subscribe-inherit ${subscribeAt}.inheritFieldsAndMappings 9:11`,
      ]),
    );
  });

  it('allows five subscribed objects for Salesforce', () => {
    const objects = (count: number): string =>
      withLines(
        `    read: { objects: [{ objectName: a, destination: d }] }\n    subscribe:\n      objects:\n${Array.from({ length: count }, (_, index) => `        - { objectName: o${index}, destination: d, otherEvents: [X] }\n`).join('')}`,
        'salesforce',
      );
    expect(check(objects(5)).errors).toEqual([]);
    expect(found(objects(6))).toContain(`subscribe-limit ${at}.subscribe.objects[5] 13:11`);
  });

  it('wants an hour between two looks at the schema', () => {
    const text = withLines(
      "    proxy: { enabled: true }\n    watchSchema:\n      destination: d\n      schedule: '*/30 * * * *'\n      allObjects: { fieldChanged: { enabled: always } }\n",
    );
    expect(found(text)).toContain(`schedule ${at}.watchSchema.schedule 8:7`);
  });

  it('warns of a subscription without events', () => {
    expect(found(withSubscribe(''))).toContain(`subscribe-without-events ${subscribeAt} 11:11`);
    expect(check(withSubscribe('')).manifest).toBeDefined();
  });
});
