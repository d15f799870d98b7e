import { describe, expect, it } from 'vitest';
import { compileCheck } from '../kit/http/validation.ts';
import { fieldFrom as fieldOfHubspot } from './hubspot/fields.ts';
import { fieldFrom as fieldOfSalesforce } from './salesforce/describe.ts';
import { FieldMetadata } from './schema.ts';

const check = compileCheck(FieldMetadata);

describe('src/providers/fields', () => {
  it.each([
    ['string', 'text', 'string'],
    ['phone_number', 'phonenumber', 'string'],
    ['number', 'number', 'float'],
    ['date', 'date', 'date'],
    ['datetime', 'date', 'datetime'],
    ['bool', 'booleancheckbox', 'boolean'],
    ['enumeration', 'booleancheckbox', 'boolean'],
    ['enumeration', 'checkbox', 'multiSelect'],
    ['enumeration', 'radio', 'singleSelect'],
    ['json', 'text', 'other'],
    ['brand_new', 'text', 'other'],
  ])('reads a HubSpot %s of field type %s as %s', (type, fieldType, valueType) => {
    const field = fieldOfHubspot({ name: 'a', label: 'A', type, fieldType, hubspotDefined: true }, undefined);
    expect(field).toMatchObject({
      fieldName: 'a',
      displayName: 'A',
      valueType,
      providerType: type,
      isCustom: false,
      readOnly: false,
    });
    expect(check(field, 'body').issues).toEqual([]);
  });

  it('reads what else a HubSpot property says', () => {
    const options = [{ label: 'Lead', value: 'lead' }, { value: 'x' }, {}];
    const read = fieldOfHubspot(
      { name: 'a', type: 'enumeration', calculated: true, options },
      new Set(['a']),
    );
    expect(read).toMatchObject({
      displayName: 'a',
      readOnly: true,
      isCustom: true,
      isRequired: true,
      values: [
        { value: 'lead', displayValue: 'Lead' },
        { value: 'x', displayValue: 'x' },
      ],
    });
    expect(
      fieldOfHubspot({ name: 'b', type: 'string', modificationMetadata: { readOnlyValue: true } }, undefined),
    ).toMatchObject({ readOnly: true });
    expect(fieldOfHubspot({ name: 'b', type: 'string' }, undefined)).not.toHaveProperty('isRequired');
    const owner = fieldOfHubspot(
      { name: 'c', type: 'enumeration', externalOptions: true, options: [], referencedObjectType: 'OWNER' },
      new Set(),
    );
    expect(owner).toMatchObject({ referenceTo: ['OWNER'], isRequired: false });
    expect(owner).not.toHaveProperty('values');
  });

  it.each([
    ['string', 'string'],
    ['id', 'string'],
    ['email', 'string'],
    ['combobox', 'string'],
    ['boolean', 'boolean'],
    ['int', 'int'],
    ['currency', 'float'],
    ['percent', 'float'],
    ['date', 'date'],
    ['datetime', 'datetime'],
    ['time', 'other'],
    ['picklist', 'singleSelect'],
    ['multipicklist', 'multiSelect'],
    ['reference', 'reference'],
    ['address', 'other'],
  ])('reads a Salesforce %s as %s', (type, valueType) => {
    const field = fieldOfSalesforce({
      name: 'A__c',
      label: 'A',
      type,
      custom: true,
      createable: true,
      updateable: true,
      nillable: true,
    });
    expect(field).toMatchObject({
      fieldName: 'A__c',
      valueType,
      providerType: type,
      isCustom: true,
      isRequired: false,
      readOnly: false,
    });
    expect(check(field, 'body').issues).toEqual([]);
  });

  it('reads what else a Salesforce field says', () => {
    const required = {
      name: 'LastName',
      type: 'string',
      createable: true,
      updateable: true,
      nillable: false,
      defaultedOnCreate: false,
    };
    expect(fieldOfSalesforce(required)).toMatchObject({ isRequired: true, isCustom: false });
    expect(fieldOfSalesforce({ ...required, defaultedOnCreate: true })).toMatchObject({ isRequired: false });
    expect(fieldOfSalesforce({ ...required, autoNumber: true })).toMatchObject({ readOnly: true });
    expect(fieldOfSalesforce({ name: 'CreatedDate', type: 'datetime' })).toMatchObject({ readOnly: true });
    const picklistValues = [
      { active: true, value: 'Hot', label: 'Very hot' },
      { active: false, value: 'Cold', label: 'Cold' },
    ];
    expect(fieldOfSalesforce({ name: 'Rating', type: 'picklist', picklistValues })?.values).toEqual([
      { value: 'Hot', displayValue: 'Very hot' },
    ]);
    expect(
      fieldOfSalesforce({ name: 'OwnerId', type: 'reference', referenceTo: ['User', 'Group'] })?.referenceTo,
    ).toEqual(['User', 'Group']);
  });
});
