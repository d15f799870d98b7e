import { createRandom, type Random } from '../kit/index.ts';
import type { Org } from './org.ts';
import { findObject, type SObject } from './schema/object-types.ts';
import { derive } from './store/derive.ts';
import { nextId, putRow, transaction, type Transaction, type Value } from './store/store.ts';
import { formatDatetime } from './store/times.ts';
import { adminUsername, ensureUser } from './users.ts';

const firstNames = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gwen', 'Hugo', 'Iris', 'Jon', 'Kira', 'Leo'];
const lastNames = [
  'Adler',
  'Brook',
  'Costa',
  'Diaz',
  'Ekman',
  'Fuchs',
  'Gray',
  'Holt',
  'Ito',
  'Janssen',
  'Kovac',
];
const companies = [
  'Acme',
  'Birch',
  'Cobalt',
  'Delta',
  'Ember',
  'Fjord',
  'Garnet',
  'Harbor',
  'Indigo',
  'Juniper',
];
const cities = ['Oslo', 'Lyon', 'Turin', 'Graz', 'Porto', 'Leeds', 'Malmo', 'Ghent'];

/** Rows of BigTable__c: enough for several query pages. */
const bigTableRows = 6001;

/** Fills an org: `records` contacts, a tenth as many accounts, and a few of everything else. */
export function seedOrg(org: Org, input: { seed: number; records: number }): void {
  const seeder = createSeeder(org, createRandom(input.seed, 'salesforce-data'), input.records);
  const { random } = seeder;
  ensureUser(org, adminUsername);
  seedSetup(seeder);
  const accounts: string[] = [];
  for (let i = 0; i < Math.max(3, Math.ceil(input.records / 10)); i += 1) {
    accounts.push(
      seeder.add('Account', {
        Name: `${random.pick(companies)} ${i + 1}`,
        Industry: random.pick(['Banking', 'Energy', 'Technology']),
        BillingCity: random.pick(cities),
        NumberOfEmployees: 10 + random.int(5000),
        Website: `https://account${i + 1}.example.com`,
      }),
    );
  }
  const contacts: string[] = [];
  for (let i = 0; i < input.records; i += 1)
    contacts.push(seeder.add('Contact', contactFields(random, i, accounts)));
  seedSmallTables(seeder, accounts, contacts);
  for (let i = 0; i < bigTableRows; i += 1)
    seeder.add('BigTable__c', { Name: `Row ${i + 1}`, Number__c: i + 1 });
  for (let i = 0; i < 3; i += 1)
    seeder.add('UpsertTable__c', { Name: `Entry ${i + 1}`, ExtId__c: `seed-${i + 1}` });
}

/** The org's own row, and two record types of one object. */
function seedSetup(seeder: Seeder): void {
  seeder.add('Organization', {
    Name: 'Simulated Salesforce',
    Country: 'GB',
    DefaultLocaleSidKey: 'en_GB',
    LanguageLocaleKey: 'en_GB',
    TimeZoneSidKey: 'Europe/London',
    FiscalYearStartMonth: 1,
    OrganizationType: 'Developer Edition',
    InstanceName: 'SIM1',
  });
  for (const name of ['Customer', 'Partner']) {
    const fields = { Name: name, DeveloperName: name, SobjectType: 'Account', IsActive: true };
    seeder.add('RecordType', fields);
  }
}

function contactFields(random: Random, i: number, accounts: string[]): Record<string, Value> {
  const first = random.pick(firstNames);
  const last = random.pick(lastNames);
  const fields: Record<string, Value> = {
    AccountId: random.pick(accounts),
    FirstName: first,
    LastName: last,
    Email: `${first}.${last}.${i + 1}@example.com`.toLowerCase(),
    MailingCity: random.pick(cities),
  };
  if (random.int(3) > 0) fields['Phone'] = `+49 30 ${String(100_000 + random.int(899_999))}`;
  if (random.int(2) > 0) fields['Title'] = random.pick(['Engineer', 'Buyer', 'Director']);
  return fields;
}

function seedSmallTables(seeder: Seeder, accounts: string[], contacts: string[]): void {
  const { random } = seeder;
  for (let i = 0; i < 5; i += 1) {
    const person = { FirstName: random.pick(firstNames), LastName: random.pick(lastNames) };
    seeder.add('Lead', {
      ...person,
      Company: `${random.pick(companies)} Labs`,
      Email: `lead${i + 1}@example.com`,
    });
    seeder.add('Opportunity', {
      Name: `Deal ${i + 1}`,
      AccountId: random.pick(accounts),
      StageName: random.pick(['Prospecting', 'Qualification', 'Closed Won']),
      Amount: 1000 * (1 + random.int(90)),
      CloseDate: formatDatetime(seeder.now + i * 86_400_000).slice(0, 10),
    });
    seeder.add('Case', { Subject: `Question ${i + 1}`, Origin: 'Web', AccountId: random.pick(accounts) });
    seeder.add('Task', { Subject: 'Call', WhatId: random.pick(accounts), WhoId: contacts[i] ?? null });
    seeder.add('Product2', { Name: `Product ${i + 1}`, ProductCode: `P-${i + 1}`, IsActive: true });
  }
  const campaign = seeder.add('Campaign', { Name: 'Spring fair', Type: 'Conference', IsActive: true });
  for (const ContactId of contacts.slice(0, 3))
    seeder.add('CampaignMember', { CampaignId: campaign, ContactId, Status: 'Sent' });
}

type Seeder = {
  random: Random;
  now: number;
  add: (object: string, fields: Record<string, Value>) => string;
};

/** Writes rows straight into the store; each is a little younger than the one before. */
function createSeeder(org: Org, random: Random, records: number): Seeder {
  const now = org.ground.clock.now();
  const userId = ensureUser(org, adminUsername)['Id'] ?? null;
  const step = Math.min(60_000, Math.floor((20 * 86_400_000) / (records + 1000)));
  let at = org.createdAt;
  function add(name: string, fields: Record<string, Value>): string {
    const object = findObject(org.schema, name);
    if (!object) throw new Error(`no object ${name}`);
    if (object.name !== 'BigTable__c') at += step;
    return addRow(org, transaction(), object, { OwnerId: userId, ...fields }, userId, formatDatetime(at));
  }
  return { random, now, add };
}

function addRow(
  org: Org,
  tx: Transaction,
  object: SObject,
  fields: Record<string, Value>,
  userId: Value,
  stamp: string,
): string {
  const id = nextId(org.store, object);
  const row: Record<string, Value> = { Id: id };
  for (const f of object.fields) if (f.preset !== null && f.preset !== false) row[f.name] = f.preset;
  for (const [name, value] of Object.entries(fields))
    if (value !== null && object.byName.has(name.toLowerCase())) row[name] = value;
  Object.assign(row, {
    IsDeleted: false,
    CreatedDate: stamp,
    CreatedById: userId,
    LastModifiedDate: stamp,
    LastModifiedById: userId,
    SystemModstamp: stamp,
  });
  derive(org.store, object, row, undefined, stamp);
  putRow(org.store, tx, object, id, row);
  return id;
}
