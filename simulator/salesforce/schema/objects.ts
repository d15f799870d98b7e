import {
  address,
  externalId,
  field,
  owner,
  personName,
  picklist,
  readOnlyField,
  reference,
  requiredText,
  text,
  type Field,
} from './fields.ts';
import type { SObjectSpec } from './object-types.ts';
import { setupObjects } from './setup-objects.ts';

const leadSources = ['Web', 'Phone Inquiry', 'Partner Referral', 'Purchased List', 'Other'];
const industries = [
  'Agriculture',
  'Banking',
  'Consulting',
  'Education',
  'Energy',
  'Healthcare',
  'Technology',
];
const ratings = ['Hot', 'Warm', 'Cold'];

const cascade = { onDelete: 'cascade' } as const;

function recordTypeId(): Field {
  return reference('RecordTypeId', ['RecordType'], 'RecordType');
}

const account: SObjectSpec = {
  name: 'Account',
  keyPrefix: '001',
  fields: [
    requiredText('Name', 255, { nameField: true }),
    picklist('Type', ['Prospect', 'Customer - Direct', 'Customer - Channel', 'Other']),
    reference('ParentId', ['Account'], 'Parent', 'ChildAccounts'),
    ...address('Billing'),
    ...address('Shipping'),
    field('Phone', 'phone'),
    field('Fax', 'phone'),
    text('AccountNumber', 40),
    field('Website', 'url'),
    picklist('Industry', industries),
    field('AnnualRevenue', 'currency', { scale: 0 }),
    field('NumberOfEmployees', 'int'),
    field('Description', 'textarea'),
    picklist('Rating', ratings),
    text('Sic', 20),
    text('SicDesc', 80),
    picklist('Ownership', ['Public', 'Private', 'Subsidiary', 'Other']),
    text('TickerSymbol', 20),
    text('Site', 80),
    picklist('AccountSource', leadSources),
    picklist('CustomerPriority__c', ['High', 'Medium', 'Low'], { restricted: true }),
    externalId('External_Id__c'),
    recordTypeId(),
    owner(),
  ],
};

const contact: SObjectSpec = {
  name: 'Contact',
  keyPrefix: '003',
  fields: [
    reference('AccountId', ['Account'], 'Account', 'Contacts', cascade),
    ...personName(),
    ...address('Mailing'),
    ...address('Other'),
    field('Phone', 'phone'),
    field('MobilePhone', 'phone'),
    field('HomePhone', 'phone'),
    field('Email', 'email', { idLookup: true }),
    text('Title', 128),
    text('Department', 80),
    reference('ReportsToId', ['Contact'], 'ReportsTo'),
    picklist('LeadSource', leadSources),
    field('Birthdate', 'date'),
    field('Description', 'textarea'),
    field('HasOptedOutOfEmail', 'boolean'),
    field('DoNotCall', 'boolean'),
    picklist('Level__c', ['Primary', 'Secondary', 'Tertiary'], { restricted: true }),
    field('Interests__c', 'multipicklist', {
      picklist: ['Data', 'Sales', 'Service', 'Marketing'],
      restricted: true,
    }),
    field('Score__c', 'double', { precision: 10, scale: 2 }),
    externalId('External_Id__c'),
    recordTypeId(),
    owner(),
  ],
};

const lead: SObjectSpec = {
  name: 'Lead',
  keyPrefix: '00Q',
  fields: [
    ...personName(),
    requiredText('Company', 255),
    text('Title', 128),
    field('Street', 'textarea', { length: 255 }),
    text('City', 40),
    text('State', 80),
    text('PostalCode', 20),
    text('Country', 80),
    field('Phone', 'phone'),
    field('MobilePhone', 'phone'),
    field('Email', 'email', { idLookup: true }),
    field('Website', 'url'),
    field('Description', 'textarea'),
    picklist('LeadSource', leadSources),
    picklist(
      'Status',
      ['Open - Not Contacted', 'Working - Contacted', 'Closed - Converted', 'Closed - Not Converted'],
      {
        nillable: false,
        preset: 'Open - Not Contacted',
      },
    ),
    picklist('Industry', industries),
    picklist('Rating', ratings),
    field('AnnualRevenue', 'currency', { scale: 0 }),
    field('NumberOfEmployees', 'int'),
    field('HasOptedOutOfEmail', 'boolean'),
    readOnlyField('IsConverted', 'boolean'),
    externalId('External_Id__c'),
    recordTypeId(),
    owner(),
  ],
};

/** Stages in order, with what each says about probability, closing and winning. */
export const stages: Record<string, { probability: number; closed: boolean; won: boolean }> = {
  Prospecting: { probability: 10, closed: false, won: false },
  Qualification: { probability: 10, closed: false, won: false },
  'Proposal/Price Quote': { probability: 75, closed: false, won: false },
  'Negotiation/Review': { probability: 90, closed: false, won: false },
  'Closed Won': { probability: 100, closed: true, won: true },
  'Closed Lost': { probability: 0, closed: true, won: false },
};

const opportunity: SObjectSpec = {
  name: 'Opportunity',
  labelPlural: 'Opportunities',
  keyPrefix: '006',
  fields: [
    reference('AccountId', ['Account'], 'Account', 'Opportunities', cascade),
    requiredText('Name', 120, { nameField: true }),
    field('Description', 'textarea'),
    picklist('StageName', Object.keys(stages), { nillable: false }),
    field('Amount', 'currency'),
    field('Probability', 'percent', { precision: 3, scale: 0, defaultedOnCreate: true }),
    field('CloseDate', 'date', { nillable: false }),
    picklist('Type', ['Existing Customer - Upgrade', 'New Customer']),
    text('NextStep', 255),
    picklist('LeadSource', leadSources),
    readOnlyField('IsClosed', 'boolean'),
    readOnlyField('IsWon', 'boolean'),
    reference('CampaignId', ['Campaign'], 'Campaign', 'Opportunities'),
    externalId('External_Id__c'),
    recordTypeId(),
    owner(),
  ],
};

const contactRole: SObjectSpec = {
  name: 'OpportunityContactRole',
  label: 'Opportunity Contact Role',
  keyPrefix: '00K',
  fields: [
    reference('OpportunityId', ['Opportunity'], 'Opportunity', 'OpportunityContactRoles', {
      nillable: false,
      onDelete: 'cascade',
    }),
    reference('ContactId', ['Contact'], 'Contact', 'OpportunityContactRoles', {
      nillable: false,
      onDelete: 'cascade',
    }),
    picklist('Role', ['Business User', 'Decision Maker', 'Evaluator', 'Influencer', 'Other']),
    field('IsPrimary', 'boolean'),
  ],
};

const caseObject: SObjectSpec = {
  name: 'Case',
  keyPrefix: '500',
  fields: [
    readOnlyField('CaseNumber', 'string', {
      length: 30,
      nillable: false,
      autoNumber: true,
      defaultedOnCreate: true,
      idLookup: true,
      nameField: true,
    }),
    reference('ContactId', ['Contact'], 'Contact', 'Cases', { onDelete: 'restrict' }),
    reference('AccountId', ['Account'], 'Account', 'Cases', { onDelete: 'restrict' }),
    reference('ParentId', ['Case'], 'Parent', 'Cases'),
    text('SuppliedName', 80),
    field('SuppliedEmail', 'email'),
    picklist('Type', ['Mechanical', 'Electrical', 'Electronic', 'Structural', 'Other']),
    picklist('Status', ['New', 'Working', 'Escalated', 'Closed'], { preset: 'New' }),
    picklist('Reason', ['Installation', 'Equipment Complexity', 'Performance', 'Breakdown', 'Other']),
    picklist('Origin', ['Phone', 'Email', 'Web']),
    text('Subject', 255),
    picklist('Priority', ['High', 'Medium', 'Low'], { preset: 'Medium' }),
    field('Description', 'textarea'),
    readOnlyField('IsClosed', 'boolean'),
    readOnlyField('ClosedDate', 'datetime'),
    recordTypeId(),
    owner(),
  ],
};

const task: SObjectSpec = {
  name: 'Task',
  keyPrefix: '00T',
  fields: [
    reference('WhoId', ['Contact', 'Lead'], 'Who', 'Tasks', cascade),
    reference('WhatId', ['Account', 'Opportunity', 'Case', 'Campaign'], 'What', 'Tasks', cascade),
    field('Subject', 'combobox', { picklist: ['Call', 'Email', 'Send Letter', 'Send Quote', 'Other'] }),
    field('ActivityDate', 'date'),
    picklist('Status', ['Not Started', 'In Progress', 'Completed', 'Waiting on someone else', 'Deferred'], {
      nillable: false,
      preset: 'Not Started',
    }),
    picklist('Priority', ['High', 'Normal', 'Low'], { nillable: false, preset: 'Normal' }),
    field('Description', 'textarea'),
    readOnlyField('IsClosed', 'boolean'),
    owner(),
  ],
};

const event: SObjectSpec = {
  name: 'Event',
  keyPrefix: '00U',
  fields: [
    reference('WhoId', ['Contact', 'Lead'], 'Who', 'Events', cascade),
    reference('WhatId', ['Account', 'Opportunity', 'Case', 'Campaign'], 'What', 'Events', cascade),
    field('Subject', 'combobox', { picklist: ['Call', 'Email', 'Meeting', 'Other'] }),
    text('Location', 255),
    field('StartDateTime', 'datetime'),
    field('EndDateTime', 'datetime'),
    field('DurationInMinutes', 'int'),
    field('IsAllDayEvent', 'boolean'),
    field('Description', 'textarea'),
    owner(),
  ],
};

const campaign: SObjectSpec = {
  name: 'Campaign',
  keyPrefix: '701',
  fields: [
    requiredText('Name', 80, { nameField: true }),
    reference('ParentId', ['Campaign'], 'Parent', 'ChildCampaigns'),
    picklist('Type', ['Conference', 'Webinar', 'Advertisement', 'Email', 'Other']),
    picklist('Status', ['Planned', 'In Progress', 'Completed', 'Aborted'], { preset: 'Planned' }),
    field('StartDate', 'date'),
    field('EndDate', 'date'),
    field('BudgetedCost', 'currency', { scale: 0 }),
    field('ExpectedResponse', 'percent'),
    field('IsActive', 'boolean'),
    field('Description', 'textarea'),
    recordTypeId(),
    owner(),
  ],
};

/** Either a contact or a lead; the status says whether it has responded. */
const campaignMember: SObjectSpec = {
  name: 'CampaignMember',
  label: 'Campaign Member',
  keyPrefix: '00v',
  fields: [
    reference('CampaignId', ['Campaign'], 'Campaign', 'CampaignMembers', {
      nillable: false,
      updateable: false,
      onDelete: 'cascade',
    }),
    reference('LeadId', ['Lead'], 'Lead', 'CampaignMembers', { updateable: false, onDelete: 'cascade' }),
    reference('ContactId', ['Contact'], 'Contact', 'CampaignMembers', {
      updateable: false,
      onDelete: 'cascade',
    }),
    picklist('Status', ['Sent', 'Responded'], { preset: 'Sent' }),
    readOnlyField('HasResponded', 'boolean'),
    readOnlyField('FirstRespondedDate', 'date'),
    readOnlyField('LeadOrContactId', 'reference', { referenceTo: ['Lead', 'Contact'] }),
    readOnlyField('Type', 'picklist', { picklist: ['Contact', 'Lead'] }),
  ],
};

const product: SObjectSpec = {
  name: 'Product2',
  label: 'Product',
  keyPrefix: '01t',
  fields: [
    requiredText('Name', 255, { nameField: true }),
    text('ProductCode', 255),
    field('Description', 'textarea'),
    field('IsActive', 'boolean'),
    picklist('Family', ['None', 'Hardware', 'Software', 'Service']),
    text('StockKeepingUnit', 180, { unique: true }),
  ],
};

const bigTable: SObjectSpec = {
  name: 'BigTable__c',
  label: 'Big Table',
  keyPrefix: 'a00',
  fields: [text('Name', 80, { nameField: true }), field('Number__c', 'double', { scale: 0 }), owner()],
};

/** `ExtId__c` is an external id that is not unique: several matches answer 300. */
const upsertTable: SObjectSpec = {
  name: 'UpsertTable__c',
  label: 'Upsert Table',
  keyPrefix: 'a01',
  fields: [text('Name', 80, { nameField: true }), externalId('ExtId__c', { unique: false }), owner()],
};

/** The objects a fresh org has. */
export const standardObjects: SObjectSpec[] = [
  account,
  contact,
  lead,
  opportunity,
  contactRole,
  caseObject,
  task,
  event,
  campaign,
  campaignMember,
  ...setupObjects,
  product,
  bigTable,
  upsertTable,
];
