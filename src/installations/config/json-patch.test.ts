import { describe, expect, it } from 'vitest';
import { parseJson } from '../../kit/json.ts';
import { applyChanges, type Change } from './json-patch.ts';

const document = {
  objectName: 'contact',
  'a/b': 1,
  'm~n': 2,
  deletionSettings: { enabled: false },
  fieldFilters: [{ fieldName: 'a' }, { fieldName: 'b' }],
};

function applied(...changes: Change[]): unknown {
  const outcome = applyChanges(document, changes);
  return 'issues' in outcome ? outcome.issues.map(({ name, detail }) => `${name} ${detail}`) : outcome.value;
}
const add = (path: string, value: unknown): Change => ({ op: 'add', path, value });
const replace = (path: string, value: unknown): Change => ({ op: 'replace', path, value });
const remove = (path: string): Change => ({ op: 'remove', path });

describe('installations/config/json-patch', () => {
  it('§4.5 replace: changes a nested member and leaves the document itself alone', () => {
    const before = structuredClone(document);
    expect(applied(replace('/deletionSettings/enabled', true))).toEqual({
      ...document,
      deletionSettings: { enabled: true },
    });
    expect(document).toEqual(before);
  });

  it('§4.5 add: makes a member, replaces one that exists, inserts into an array and appends with "-"', () => {
    const [a, b] = document.fieldFilters;
    expect(applied(add('/schedule', 'x'), add('/objectName', 'company'))).toMatchObject({
      schedule: 'x',
      objectName: 'company',
    });
    expect(applied(add('/fieldFilters/1', 'n'))).toMatchObject({ fieldFilters: [a, 'n', b] });
    expect(applied(add('/fieldFilters/-', 'n'))).toMatchObject({ fieldFilters: [a, b, 'n'] });
    expect(applied(add('/fieldFilters/2', 'n'))).toMatchObject({ fieldFilters: [a, b, 'n'] });
  });

  it('§4.5 add: a value may be null or false', () => {
    expect(applied(add('/x', null), add('/y', false))).toMatchObject({ x: null, y: false });
  });

  it('§4.5 remove: takes a member or an element away', () => {
    const [, b] = document.fieldFilters;
    expect(applied(remove('/deletionSettings'))).not.toHaveProperty('deletionSettings');
    expect(applied(remove('/fieldFilters/0'))).toMatchObject({ fieldFilters: [b] });
  });

  it('§4.5 path: "~1" and "~0" stand for "/" and "~"', () => {
    expect(applied(replace('/a~1b', 9), replace('/m~0n', 8))).toMatchObject({ 'a/b': 9, 'm~n': 8 });
  });

  it('§4.5 path: the empty path is the whole object config', () => {
    expect(applied(replace('', { objectName: 'x' }))).toEqual({ objectName: 'x' });
    expect(applied(remove(''))).toBeUndefined();
    expect(applyChanges(undefined, [add('', { objectName: 'x' })])).toEqual({ value: { objectName: 'x' } });
  });

  it('§4.5 changes: each builds on the one before', () => {
    expect(applied(add('/n', {}), add('/n/m', 1), remove('/n/m'))).toMatchObject({ n: {} });
  });

  it.each<[Change, string]>([
    [replace('/schedule', 'x'), 'there is nothing at "schedule"'],
    [remove('/schedule'), 'there is nothing at "schedule"'],
    [add('/backfill/defaultPeriod', {}), 'there is nothing at "backfill"'],
    [
      replace('/objectName/first', 1),
      'there is nothing at "first": its parent is neither an object nor an array',
    ],
    [replace('/toString', 1), 'there is nothing at "toString"'],
    [add('schedule', 'x'), 'must be empty or start with "/"'],
    [add('/~2', 'x'), 'has a "~" that is neither "~0" nor "~1"'],
    [add('/__proto__', {}), 'the key "__proto__" is not accepted'],
    [add('/__proto__/polluted', true), 'the key "__proto__" is not accepted'],
    [add('/fieldFilters/3', 'n'), 'the array has no index 3; its length is 2'],
    [replace('/fieldFilters/2', 'n'), 'the array has no index 2; its length is 2'],
    [remove('/fieldFilters/2'), 'the array has no index 2; its length is 2'],
    [replace('/fieldFilters/01', 'n'), '"01" is not an index of the array'],
    [replace('/fieldFilters/-1', 'n'), '"-1" is not an index of the array'],
    [replace('/fieldFilters/-', 'n'), '"-" is not an index of the array'],
    [remove('/fieldFilters/length'), '"length" is not an index of the array'],
  ])('§4.5 path: refuses %j', (change, detail) => {
    expect(applied(replace('/objectName', 'y'), change)).toEqual([`changes[1].path ${detail}`]);
  });

  it('§4.5 value: is required for add and replace', () => {
    expect(applied({ op: 'add', path: '/x' })).toEqual(['changes[0].value is required for "add"']);
    expect(applied({ op: 'replace', path: '/objectName' })).toEqual([
      'changes[0].value is required for "replace"',
    ]);
  });

  it('copies each part once, however many changes there are', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `field${index}`);
    const large = { selectedFields: Object.fromEntries(keys.map((key) => [key, true])), list: keys };
    const changes = keys
      .slice(0, 500)
      .flatMap((key) => [
        replace(`/selectedFields/${key}`, false),
        remove('/list/0'),
        add('/list/0', { key }),
      ]);
    const before = JSON.stringify(large);
    const start = performance.now();
    const outcome = applyChanges(large, changes) as { value: typeof large };
    // A copy for each change takes seconds.
    expect(performance.now() - start).toBeLessThan(500);
    expect(JSON.stringify(large)).toBe(before);
    expect(outcome.value.selectedFields['field499']).toBe(false);
    expect(outcome.value.list[0]).toEqual({ key: 'field499' });
  });

  it('leaves the values of the changes alone', () => {
    const value = { inner: { a: 1 } };
    expect(applied(add('/x', value), add('/y', value), replace('/x/inner/a', 2))).toMatchObject({
      x: { inner: { a: 2 } },
      y: { inner: { a: 1 } },
    });
    expect(value).toEqual({ inner: { a: 1 } });
  });

  it('keeps numbers exact', () => {
    const outcome = applyChanges(parseJson('{"big":9007199254740993,"n":1.50}'), [add('/other', 1)]);
    expect(JSON.stringify('value' in outcome && outcome.value)).toBe(
      '{"big":9007199254740993,"n":1.50,"other":1}',
    );
  });
});
