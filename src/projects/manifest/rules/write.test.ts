import { describe, expect, it } from 'vitest';
import { at, check, found, withLines } from '../check.fixture.ts';

const objects = `${at}.write.objects`;
const writing = (object: string, provider?: string): string =>
  withLines(`    write:\n      objects:\n        - ${object}\n`, provider);

describe('src/projects/manifest/rules/write', () => {
  it.each([
    'objectName: contacts',
    'objectName: Invoice__c',
    '{ objectName: 2-1234567, inheritMapping: false }',
  ])('§2.1 write.objects: takes a standard or a custom object, %s', (object) => {
    expect(check(writing(object)).errors).toEqual([]);
  });

  it.each([
    ['an object without a name', writing('inheritMapping: false'), `required ${objects}[0].objectName 7:11`],
    ['an empty object name', writing("objectName: ''"), `required ${objects}[0].objectName 7:11`],
    ['an object name that is no text', writing('objectName: 5'), `type ${objects}[0].objectName 7:11`],
    ['an object that is text', writing('contacts'), `type ${objects}[0] 7:11`],
    [
      'an inheritMapping that is no boolean',
      writing('{ objectName: a, inheritMapping: 1 }'),
      `type ${objects}[0].inheritMapping 7:28`,
    ],
    ['objects that are no list', withLines('    write: { objects: { a: 1 } }\n'), `type ${objects} 5:14`],
    ['a write without objects', withLines('    write: {}\n'), `required ${objects} 5:5`],
  ])('§2.1 write.objects: refuses %s', (_name, text, expected) => {
    expect(check(text).manifest).toBeUndefined();
    expect(found(text)).toContain(expected);
  });
});
