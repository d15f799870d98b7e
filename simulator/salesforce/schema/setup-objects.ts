import { field, picklist, readOnlyField, requiredText, text } from './fields.ts';
import type { SObjectSpec } from './object-types.ts';

const user: SObjectSpec = {
  name: 'User',
  keyPrefix: '005',
  deletable: false,
  fields: [
    requiredText('Username', 80, { idLookup: true, unique: true }),
    requiredText('LastName', 80, { compoundFieldName: 'Name' }),
    text('FirstName', 40, { compoundFieldName: 'Name' }),
    readOnlyField('Name', 'string', { length: 121, nillable: false, nameField: true }),
    text('CompanyName', 80),
    field('Email', 'email', { nillable: false, idLookup: true }),
    requiredText('Alias', 8),
    field('IsActive', 'boolean', { preset: true }),
    text('TimeZoneSidKey', 40, { nillable: false, preset: 'Europe/London', defaultedOnCreate: true }),
    text('LocaleSidKey', 40, { nillable: false, preset: 'en_GB', defaultedOnCreate: true }),
    text('Title', 80),
    text('Department', 80),
  ],
};

/** The one row that says whose org it is. */
const organization: SObjectSpec = {
  name: 'Organization',
  keyPrefix: '00D',
  createable: false,
  deletable: false,
  fields: [
    requiredText('Name', 80, { nameField: true }),
    text('Division', 80),
    field('Street', 'textarea', { length: 255 }),
    text('City', 40),
    text('State', 80),
    text('PostalCode', 20),
    text('Country', 80),
    field('Phone', 'phone'),
    text('PrimaryContact', 80),
    text('DefaultLocaleSidKey', 40, { nillable: false }),
    text('LanguageLocaleKey', 40, { nillable: false }),
    text('TimeZoneSidKey', 40),
    readOnlyField('FiscalYearStartMonth', 'int'),
    readOnlyField('UsesStartDateAsFiscalYearName', 'boolean'),
    readOnlyField('OrganizationType', 'picklist', {
      picklist: ['Team Edition', 'Professional Edition', 'Enterprise Edition', 'Developer Edition'],
    }),
    readOnlyField('InstanceName', 'string', { length: 5 }),
    readOnlyField('IsSandbox', 'boolean'),
    readOnlyField('NamespacePrefix', 'string', { length: 15 }),
    readOnlyField('TrialExpirationDate', 'datetime'),
  ],
};

const recordType: SObjectSpec = {
  name: 'RecordType',
  label: 'Record Type',
  keyPrefix: '012',
  deletable: false,
  fields: [
    requiredText('Name', 80, { nameField: true }),
    requiredText('DeveloperName', 80),
    readOnlyField('NamespacePrefix', 'string', { length: 15 }),
    text('Description', 255),
    picklist('SobjectType', [], { length: 40, nillable: false, updateable: false }),
    field('IsActive', 'boolean'),
  ],
};

/** Objects that describe the org rather than its business. */
export const setupObjects: SObjectSpec[] = [user, organization, recordType];
