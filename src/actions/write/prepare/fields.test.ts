import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../kit/json.ts';
import {
  applyPolicies,
  compileRules,
  shapeFields as shape,
  type FieldRule,
  type FieldRules,
} from './fields.ts';

function rules(settings: Record<string, FieldRule> = {}, more: Partial<FieldRules> = {}): FieldRules {
  return { settings, valueDefaults: {}, mappings: {}, unsetMappings: [], ...more };
}

const shapeFields = (kind: 'create' | 'update', sent: Record<string, unknown>, by: FieldRules) =>
  shape(kind, sent, compileRules(by));

describe('actions/write/fields', () => {
  test('§2.5 default: is applied when the field is missing, for each kind of value', () => {
    const settings = {
      a: { default: { stringValue: 'x' } },
      b: { default: { integerValue: 7 } },
      c: { default: { booleanValue: false } },
    };
    expect(shapeFields('create', {}, rules(settings)).fields).toEqual({ a: 'x', b: 7, c: false });
    expect(shapeFields('create', { a: 'own', b: null, c: '' }, rules(settings)).fields).toEqual({
      a: 'own',
      b: null,
      c: '',
    });
  });

  test('§2.5 example combinations: create-only, update-only and never written', () => {
    const settings: Record<string, FieldRule> = {
      createOnly: { writeOnCreate: 'always', writeOnUpdate: 'never' },
      updateOnly: { writeOnCreate: 'never', writeOnUpdate: 'always' },
      never: { writeOnCreate: 'never', writeOnUpdate: 'never' },
    };
    const sent = { createOnly: 1, updateOnly: 2, never: 3, free: 4 };
    expect(shapeFields('create', sent, rules(settings)).fields).toEqual({ createOnly: 1, free: 4 });
    expect(shapeFields('update', sent, rules(settings)).fields).toEqual({ updateOnly: 2, free: 4 });
  });

  test('§2.5 a default obeys the policy of its field', () => {
    const settings: Record<string, FieldRule> = {
      a: { default: { stringValue: 'x' }, writeOnUpdate: 'never' },
    };
    expect(shapeFields('update', {}, rules(settings)).fields).toEqual({});
    expect(shapeFields('create', {}, rules(settings)).fields).toEqual({ a: 'x' });
  });

  test('§2.5 ifEmpty: marks the field on an update and means nothing on a create', () => {
    const settings: Record<string, FieldRule> = { a: { writeOnUpdate: 'ifEmpty' } };
    expect(shapeFields('update', { a: 1 }, rules(settings))).toMatchObject({
      fields: { a: 1 },
      ifEmpty: ['a'],
    });
    expect(shapeFields('create', { a: 1 }, rules(settings))).toMatchObject({ fields: { a: 1 }, ifEmpty: [] });
  });

  test('§2.5 a policy holds whatever the case of the field name', () => {
    expect(shapeFields('update', { PHONE: 1 }, rules({ Phone: { writeOnUpdate: 'never' } })).fields).toEqual(
      {},
    );
    expect(
      shapeFields('create', { PHONE: 1 }, rules({ phone: { default: { stringValue: 'd' } } })).fields,
    ).toEqual({ PHONE: 1 });
  });

  test('§2.5 selectedValueDefaults: applyOnUpdate never withholds only the default', () => {
    const valueDefaults = { a: { value: 'd', applyOnUpdate: 'never' as const }, b: { value: 'e' } };
    expect(shapeFields('create', {}, rules({}, { valueDefaults })).fields).toEqual({ a: 'd', b: 'e' });
    expect(shapeFields('update', {}, rules({}, { valueDefaults })).fields).toEqual({ b: 'e' });
    expect(shapeFields('update', { a: 'own' }, rules({}, { valueDefaults })).fields).toEqual({
      a: 'own',
      b: 'e',
    });
  });

  test('§4.2.8 inheritMapping: writes to the field the customer mapped; settings may use either name', () => {
    const mappings = { phone: 'mobilephone' };
    expect(shapeFields('create', { phone: '1', other: 2 }, rules({}, { mappings })).fields).toEqual({
      mobilephone: '1',
      other: 2,
    });
    const never: FieldRule = { writeOnCreate: 'never' };
    expect(shapeFields('create', { phone: '1' }, rules({ phone: never }, { mappings })).fields).toEqual({});
    expect(shapeFields('create', { phone: '1' }, rules({ mobilephone: never }, { mappings })).fields).toEqual(
      {},
    );
    const byDefault = rules({ phone: { default: { stringValue: 'd' } } }, { mappings });
    expect(shapeFields('create', {}, byDefault).fields).toEqual({ mobilephone: 'd' });
    expect(shapeFields('create', { mobilephone: 'own' }, byDefault).fields).toEqual({ mobilephone: 'own' });
  });

  test('§4.2.8 a name of the request that the customer has not mapped is told, as it was sent', () => {
    const unset = rules({}, { unsetMappings: ['Notes'] });
    expect(shapeFields('update', { NOTES: 1, other: 2 }, unset)).toMatchObject({
      fields: { other: 2 },
      unmapped: ['NOTES'],
    });
    expect(shapeFields('update', { other: 2 }, unset).unmapped).toEqual([]);
  });

  test('§4.2.8 an optional mapping that the customer left unset is not sent', () => {
    expect(
      shapeFields('create', { notes: 1, other: 2 }, rules({}, { unsetMappings: ['Notes'] })).fields,
    ).toEqual({ other: 2 });
  });

  test('§4.2.8 where the operator says so, what neither manifest nor config names is not sent, and told', () => {
    const only = rules({}, { mappings: { phone: 'mobilephone' }, unsetMappings: ['notes'], only: ['Email'] });
    const sent = { id: '1', email: 'a', Phone: '1', notes: 'x', CITY: 'Bern' };
    expect(shapeFields('create', sent, only)).toMatchObject({
      fields: { id: '1', email: 'a', mobilephone: '1' },
      unmapped: ['notes'],
      dropped: ['CITY'],
    });
    expect(shapeFields('create', { mobilephone: '1' }, only).fields).toEqual({ mobilephone: '1' });
    expect(shapeFields('create', { city: 'Bern' }, { ...only, goesBy: 'city' }).fields).toEqual({
      city: 'Bern',
    });
  });

  test('§4.2.8 reports two values for one provider field', () => {
    const mapped = rules({}, { mappings: { phone: 'mobilephone' } });
    expect(shapeFields('create', { phone: 1, mobilephone: 2 }, mapped).collisions).toEqual(['mobilephone']);
  });

  test('§4.2.8 nested names are taken from and put into nested values', () => {
    const mappings = { "$['address']['city']": 'BillingCity', name: "$['profile']['name']" };
    const sent = { address: { city: 'Bern', zip: '3000' }, name: 'A' };
    expect(shapeFields('create', sent, rules({}, { mappings })).fields).toEqual({
      address: { zip: '3000' },
      BillingCity: 'Bern',
      profile: { name: 'A' },
    });
    expect(shapeFields('create', { address: { city: 'Bern' } }, rules({}, { mappings })).fields).toEqual({
      BillingCity: 'Bern',
    });
  });

  test('§4.2.8 nothing is sent for an unset mapping: no default, nor a value within another', () => {
    const settings = { phone: { default: { stringValue: 'n/a' } } };
    const valueDefaults = { FAX: { value: 'n/a' } };
    const unset = rules(settings, {
      valueDefaults,
      unsetMappings: ['Phone', 'fax', "$['address']['city']", "$['geo']['lat']"],
    });
    expect(shapeFields('create', { phone: '1', name: 'A' }, unset)).toMatchObject({
      fields: { name: 'A' },
      unmapped: ['phone'],
    });
    const sent = { address: { city: 'Bern', zip: '3000' }, geo: { lat: 1 } };
    expect(shapeFields('create', sent, unset)).toMatchObject({
      fields: { address: { zip: '3000' } },
      unmapped: ["$['address']['city']", "$['geo']['lat']"],
    });
    expect(Object.keys(shapeFields('create', sent, unset).fields)).toEqual(['address']);
    expect(shapeFields('create', { address: 'Bern' }, unset)).toMatchObject({
      fields: { address: 'Bern' },
      unmapped: [],
    });
  });

  test('§4.2.8 a nested name is found in an object whatever its case', () => {
    const mappings = { "$['address']['city']": 'BillingCity' };
    const by = rules({}, { mappings, unsetMappings: ["$['address']['zip']"] });
    for (const name of ['address', 'Address', 'ADDRESS'])
      expect(shapeFields('create', { [name]: { city: 'Bern', zip: '3000', x: 1 } }, by)).toMatchObject({
        fields: { BillingCity: 'Bern', [name]: { x: 1 } },
        unmapped: ["$['address']['zip']"],
      });
    const twice = { address: { city: 'Bern' }, Address: { city: 'Basel' } };
    expect(shapeFields('create', twice, by).collisions).toEqual(['BillingCity']);
    const only = shapeFields('create', { Address: { city: 'Bern' } }, { ...by, only: [] });
    expect(only).toMatchObject({ fields: { BillingCity: 'Bern' }, dropped: [] });
  });

  test('§4.2.8 a nested field is put beside what was sent, whatever the order', () => {
    const mapped = rules({}, { mappings: { name: "$['profile']['name']" } });
    const fields = { profile: { x: 1, name: 'A' } };
    const sent = { name: 'A', profile: { x: 1 } };
    expect(shapeFields('create', sent, mapped).fields).toEqual(fields);
    expect(shapeFields('create', { profile: { x: 1 }, name: 'A' }, mapped).fields).toEqual(fields);
    expect(sent).toEqual({ name: 'A', profile: { x: 1 } });
  });

  test('§2.5 a nested default fills what is unset only, whatever the case of the object', () => {
    const city = { default: { stringValue: 'Bern' } };
    const paths = [
      rules({ "$['address']['city']": city }),
      rules({ city }, { mappings: { city: "$['address']['city']" } }),
    ];
    for (const by of paths) {
      const shaped = (sent: Record<string, unknown>) => shapeFields('create', sent, by).fields;
      expect(shaped({})).toEqual({ address: { city: 'Bern' } });
      expect(shaped({ Address: { zip: '3000' } })).toEqual({ Address: { zip: '3000', city: 'Bern' } });
      for (const address of [{ city: 'Basel', zip: '4000' }, { city: null }, null, 'Basel'])
        expect(shaped({ ADDRESS: address })).toEqual({ ADDRESS: address });
    }
    expect(shapeFields('create', { city: 'Basel' }, paths[1]!).fields).toEqual({
      address: { city: 'Basel' },
    });
  });

  test('§4.2.8 reports two values for one place in an object, and a value that a nested name leads through', () => {
    const path = "$['profile']['name']";
    const mapped = rules({ [path]: { writeOnCreate: 'never' } }, { mappings: { name: path } });
    const collisions = (sent: Record<string, unknown>) => shapeFields('create', sent, mapped).collisions;
    for (const profile of [{ name: 'B' }, { name: null }, 'B', null, ['B']])
      for (const sent of [
        { name: 'A', Profile: profile },
        { Profile: profile, name: 'A' },
      ])
        expect(collisions(sent)).toEqual([path]);
    expect(collisions({ name: 'A', profile: { Name: 'B' } })).toEqual([]);
    expect(collisions({ profile: { name: 'B' } })).toEqual([]);
    const moved = rules({}, { mappings: { [path]: path } });
    expect(shapeFields('create', { profile: { name: 'B' } }, moved).collisions).toEqual([]);
  });

  test('§4.2.8 two values for one place are seen, too, where the outer one is named by a path', () => {
    const street = "$['Address']['street']";
    const oneLevel = rules({}, { mappings: { street, addr: "$['address']" } });
    const deep = (inner: string) => `$['data']['x']${inner}`;
    const twoLevels = rules({}, { mappings: { street: deep("['a']['street']"), addr: deep("['a']") } });
    for (const by of [oneLevel, twoLevels]) {
      const shaped = (sent: Record<string, unknown>) => shapeFields('create', sent, by);
      for (const addr of [{ street: 'x' }, { street: null }, 'x', null])
        for (const sent of [
          { street: 'y', addr },
          { addr, street: 'y' },
        ])
          expect(shaped(sent).collisions).toHaveLength(1);
      expect(shaped({ street: 'y', addr: { zip: '1' } }).collisions).toEqual([]);
    }
    const beside = { street: 'y', zip: '1' };
    for (const sent of [
      { street: 'y', addr: { zip: '1' } },
      { addr: { zip: '1' }, street: 'y' },
    ]) {
      expect(shapeFields('create', sent, oneLevel).fields).toEqual({ address: beside });
      expect(shapeFields('create', sent, twoLevels).fields).toEqual({ data: { x: { a: beside } } });
      const whole = { Data: { b: 1, x: { c: 2 } }, ...sent };
      expect(shapeFields('create', whole, twoLevels).fields).toEqual({
        Data: { b: 1, x: { c: 2, a: beside } },
      });
    }
    const same = rules({}, { mappings: { addr: "$['address']", "$['place']": 'city' } });
    expect(shapeFields('create', { addr: 1, address: 2 }, same).collisions).toEqual(['address']);
    expect(shapeFields('create', { PLACE: 'Bern' }, same).fields).toEqual({ city: 'Bern' });
  });

  test('§2.5 a nested default leaves alone what an outer path brings', () => {
    const settings = { street: { default: { stringValue: 'DEF' } } };
    for (const outer of ["$['address']", "$['data']['Address']"]) {
      const inner = `${outer.toLowerCase()}['street']`;
      const by = rules(settings, { mappings: { street: inner, addr: outer } });
      const shaped = (sent: Record<string, unknown>) => {
        const { fields } = shapeFields('create', sent, by);
        return (fields['data'] as Record<string, unknown>)?.['Address'] ?? fields['address'];
      };
      for (const addr of [{ street: 'x' }, { street: null }, 'x']) expect(shaped({ addr })).toEqual(addr);
      expect(shaped({ addr: { zip: '1' } })).toEqual({ zip: '1', street: 'DEF' });
    }
  });

  test('§2.5 nothing is put into an object that is never written', () => {
    const never: FieldRule = { writeOnUpdate: 'never' };
    for (const outer of ["$['address']", "$['data']['Address']"]) {
      const mappings = { street: `${outer.toLowerCase()}['street']`, addr: outer };
      const by = rules({ addr: never }, { mappings });
      expect(shapeFields('update', { street: 'y', addr: { zip: '1' }, a: 1 }, by).fields).toEqual({ a: 1 });
    }
  });

  test('§2.5 a nested field that is never written is taken out of an object that was sent whole', () => {
    const never: FieldRule = { writeOnUpdate: 'never' };
    const by = rules(
      { "$['address']['city']": never, zip: never },
      { mappings: { zip: "$['address']['zip']" } },
    );
    const sent = { Address: { city: 'Bern', zip: '3000', street: 'A' }, name: 'B' };
    expect(shapeFields('update', sent, by).fields).toEqual({ Address: { street: 'A' }, name: 'B' });
    expect(shapeFields('create', sent, by).fields).toEqual(sent);
    expect(shapeFields('update', { address: { city: 'Bern' }, name: 'B' }, by).fields).toEqual({ name: 'B' });
    expect(sent.Address.city).toBe('Bern');
  });

  test('§4.2.8 an exact number is a value, not an object that a nested name leads into', () => {
    const amount = parseJson('1.10');
    const mapped = rules({}, { mappings: { "$['amount']['value']": 'Amount', part: "$['total']['part']" } });
    expect(shapeFields('create', { amount }, mapped).fields['amount']).toBe(amount);
    const total = parseJson('2.20');
    expect(shapeFields('create', { total, part: 1 }, mapped).collisions).toEqual(["$['total']['part']"]);
    expect(JSON.stringify(total)).toBe('2.20');
  });

  test.each([
    [{ email: { writeOnUpdate: 'never' }, Email: {} }, [], []],
    [{ Email: {}, email: { writeOnUpdate: 'never' } }, [], []],
    [{ EMAIL: { writeOnUpdate: 'ifEmpty' }, email: { writeOnUpdate: 'always' } }, ['eMail'], ['eMail']],
    [{ email: { writeOnUpdate: 'never' }, EMAIL: { writeOnUpdate: 'ifEmpty' } }, [], []],
    [{ email: { writeOnUpdate: 'ifEmpty' }, EMAIL: { writeOnUpdate: 'never' } }, [], []],
    [{ address: { writeOnUpdate: 'never' }, email: {} }, [], []],
  ] as const)('of several settings for one field the strictest holds: %j', (settings, names, ifEmpty) => {
    const by = rules(settings, { mappings: { address: 'eMAIL' } });
    const shaped = shapeFields('update', { eMail: 'x' }, by);
    expect([Object.keys(shaped.fields), shaped.ifEmpty]).toEqual([names, ifEmpty]);
    const again = applyPolicies('update', { eMail: 'x' }, by);
    expect([Object.keys(again.fields), again.ifEmpty]).toEqual([names, ifEmpty]);
    expect(shapeFields('create', { eMail: 'x' }, by).fields).toEqual({ eMail: 'x' });
  });

  test('policies alone leave names and defaults as they were planned', () => {
    const settings: Record<string, FieldRule> = {
      phone: { writeOnUpdate: 'never' },
      Title: { writeOnUpdate: 'ifEmpty' },
      city: { writeOnUpdate: 'never' },
      missing: { writeOnUpdate: 'ifEmpty' },
      added: { default: { stringValue: 'x' } },
    };
    const mapped = rules(settings, {
      mappings: { phone: 'mobile', mobile: 'fax', city: "$['address']['city']" },
    });
    const planned = { Mobile: 1, fax: 2, title: 'T', address: { city: 'C', zip: 'Z' } };
    expect(applyPolicies('update', planned, mapped)).toEqual({
      fields: { fax: 2, title: 'T', address: { zip: 'Z' } },
      ifEmpty: ['title'],
    });
    expect(applyPolicies('create', planned, mapped)).toEqual({ fields: planned, ifEmpty: [] });
  });
});
