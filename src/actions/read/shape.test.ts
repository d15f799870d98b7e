import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveReadObject } from '../../installations/index.ts';
import type { ReadObjectConfig } from '../../installations/config/schema.ts';
import { parseJson } from '../../kit/json.ts';
import type { ManifestReadObject } from '../../projects/schema.ts';
import type { ObjectDescription, ReadRecord } from '../../providers/index.ts';
import { shapeOf, type Shape } from './shape.ts';

const types = {
  Email: 'string',
  LastName: 'string',
  City: 'string',
  Stage: 'singleSelect',
  Interests: 'multiSelect',
  Size: 'float',
  Open: 'boolean',
  Address: 'other',
} as const;
const object: ObjectDescription = {
  name: 'Contact',
  displayName: 'Contact',
  fields: Object.fromEntries(
    Object.entries(types).map(([fieldName, valueType]) => [
      fieldName,
      { fieldName, displayName: fieldName, valueType },
    ]),
  ),
};
const values =
  '{"Email":"a@b.example","LastName":null,"City":"Oslo","Stage":"won","Interests":"a;b;c","Size":12.50,"Open":false,"Address":{"city":"Oslo","geo":{"lat":1.10}}}';
const record: ReadRecord = {
  id: '1',
  version: 'v',
  fields: parseJson(values) as Record<string, unknown>,
  raw: parseJson(`{"id":1.0,"properties":${values}}`) as Record<string, unknown>,
};

function shaped(config: Partial<ReadObjectConfig>, declared?: Partial<ManifestReadObject>): Shape {
  const asked = { objectName: 'Contact', ...config };
  return shapeOf(
    effectiveReadObject('Contact', declared && { objectName: 'Contact', ...declared }, asked),
    object,
  );
}
const entry = (config: Partial<ReadObjectConfig>, declared?: Partial<ManifestReadObject>): unknown =>
  JSON.parse(JSON.stringify({ ...shaped(config, declared).entryOf(record), raw: undefined }));

describe('actions/read/shape', () => {
  it('asks for what is required, selected and mapped, and delivers provider names in lower case', () => {
    const declared = {
      requiredFields: [
        { fieldName: 'email' },
        { fieldName: 'LastName', mapToName: 'surname' },
        { mapToName: 'town' },
      ],
      optionalFields: [
        { fieldName: 'Stage', mapToName: 'phase' },
        { fieldName: 'Open', mapToName: 'isOpen' },
      ],
    };
    const config = {
      selectedFields: { STAGE: true, Size: false, City: true },
      selectedFieldMappings: { town: 'city' },
    };
    expect(shaped(config, declared).fields).toEqual(['Email', 'City', 'LastName', 'Stage']);
    expect(entry(config, declared)).toEqual({
      fields: { email: 'a@b.example', city: 'Oslo' },
      mappedFields: { surname: null, phase: 'won', town: 'Oslo' },
    });
  });

  it('reads all fields where that is asked for', () => {
    const { fields, entryOf } = shaped({ selectedFieldsAuto: 'all', selectedFields: { email: true } });
    expect(fields).toEqual(Object.keys(types));
    expect(Object.keys(entryOf(record).fields)).toEqual(Object.keys(types).map((name) => name.toLowerCase()));
  });

  it('nests what is mapped to a path, and reaches into nested values', () => {
    const selectedFieldMappings = {
      "$['who']['mail']": 'Email',
      "$['who']['at']['town']": "$['Address']['city']",
      "$['who']['at']['north']": "$['address']['geo']['lat']",
      "$['it\\'s']": 'City',
      nowhere: "$['Address']['street']",
    };
    expect(JSON.stringify(shaped({ selectedFieldMappings }).entryOf(record).mappedFields)).toBe(
      `{"who":{"mail":"a@b.example","at":{"town":"Oslo","north":1.10}},"it's":"Oslo"}`,
    );
  });

  it('keeps the deeper of two names that go into each other, and the record as it came', () => {
    for (const names of [
      ["$['a']", "$['a']['city']"],
      ["$['a']['city']", "$['a']"],
    ]) {
      const selectedFieldMappings = Object.fromEntries(
        names.map((name) => [name, name.endsWith("['city']") ? 'Stage' : 'Address']),
      );
      const before = JSON.stringify(record);
      expect(entry({ selectedFieldMappings })).toMatchObject({ mappedFields: { a: { city: 'won' } } });
      expect(JSON.stringify(record)).toBe(before);
    }
  });

  it('keeps raw and the digits of numbers', () => {
    const { entryOf } = shaped({ selectedFieldsAuto: 'all', selectedFieldMappings: { __proto__x: 'Size' } });
    expect(JSON.stringify(entryOf(record).raw)).toBe(`{"id":1.0,"properties":${values}}`);
    expect(JSON.stringify(entryOf(record))).toContain('"size":12.50');
    expect(entryOf(record).raw).toBe(record.raw);
  });

  it('delivers values under their counterparts, one to one', () => {
    const selectedValueMappings = {
      stage: { closed: 'won', won: 'lost' },
      INTERESTS: { alpha: 'a', gamma: 'c' },
      Size: { large: '12.50' },
      Open: { no: 'false', never: 'null' },
      lastname: { none: 'null' },
    };
    const selectedFieldMappings = {
      phase: 'Stage',
      likes: 'Interests',
      size: 'Size',
      open: 'Open',
      surname: 'LastName',
    };
    expect(entry({ selectedFields: { Stage: true }, selectedFieldMappings, selectedValueMappings })).toEqual({
      fields: { stage: 'closed' },
      mappedFields: { phase: 'closed', likes: 'alpha;b;gamma', size: 'large', open: 'no', surname: null },
    });
  });

  it('leaves out a field that the provider has lost, and names it', () => {
    const shape = shaped({
      selectedFields: { Gone: true, Email: true },
      selectedFieldMappings: { x: "$['Lost']['a']" },
    });
    expect(shape.missing).toEqual(['Gone', "$['Lost']['a']"]);
    expect(shape.fields).toEqual(['Email']);
    const { Email: _email, ...rest } = record.fields;
    expect(shape.entryOf({ ...record, fields: rest })).toEqual({
      fields: {},
      mappedFields: {},
      raw: record.raw,
    });
  });

  it('takes any names as names', () => {
    const name = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'toString', 'a'),
      fc.string({ minLength: 1 }),
    );
    const plainName = name.filter((text) => !text.startsWith('$['));
    fc.assert(
      fc.property(fc.uniqueArray(plainName, { minLength: 1, maxLength: 4 }), (names) => {
        const selectedFieldMappings = Object.fromEntries(names.map((one) => [one, 'City']));
        const { mappedFields } = shaped({ selectedFieldMappings }).entryOf(record);
        expect(Object.keys(mappedFields).toSorted()).toEqual(names.toSorted());
        expect(Object.getPrototypeOf(mappedFields)).toBe(Object.prototype);
      }),
    );
  });

  it('calls the object as the manifest does', () => {
    expect(
      effectiveReadObject('Contact', { objectName: 'contact', mapToName: 'people' }, undefined),
    ).toMatchObject({
      objectName: 'Contact',
      deliveredAs: 'people',
    });
    expect(effectiveReadObject('Contact', undefined, undefined)).toMatchObject({ deliveredAs: 'Contact' });
  });
});
