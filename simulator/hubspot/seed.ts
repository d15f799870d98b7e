import type { Random } from '../kit/index.ts';
import { createPortal, tableOf } from './hub.ts';
import type { Hub } from './hub.ts';
import { standardOwners } from './pipeline-data.ts';
import type { ObjectType, Row } from './types.ts';

const FIRST_NAMES = [
  'Ada',
  'Alan',
  'Barbara',
  'Claude',
  'Donald',
  'Edsger',
  'Frances',
  'Grace',
  'Hedy',
  'John',
  'Katherine',
  'Leslie',
  'Margaret',
  'Niklaus',
  'Radia',
  'Tim',
];
const LAST_NAMES = [
  'Allen',
  'Berners',
  'Dijkstra',
  'Hamilton',
  'Hopper',
  'Johnson',
  'Knuth',
  'Lamarr',
  'Lamport',
  'Liskov',
  'Lovelace',
  'Perlman',
  'Shannon',
  'Turing',
  'Wirth',
  'Zuse',
];
const CITIES = ['Berlin', 'Lisbon', 'Oslo', 'Paris', 'Riga', 'Vienna', 'Zagreb'];
const STAGES = ['subscriber', 'lead', 'opportunity', 'customer'];
const DEAL_STAGES = ['appointmentscheduled', 'qualifiedtobuy', 'contractsent', 'closedwon'];

const FIRST_TIME = Date.parse('2024-01-01T00:00:00.000Z');
const SPAN_MS = 700 * 86_400_000;

/** Fills a fresh account: so many contacts, a tenth as many companies, a fifth as many deals. */
export function seed(hub: Hub, contacts: number, random: Random): void {
  hub.portal = createPortal(standardOwners());
  const { schema, links } = hub.portal;
  const [contact, company, deal] = ['contacts', 'companies', 'deals'].map((name) => schema.find(name));
  if (!contact || !company || !deal) throw new Error('the standard objects are missing');
  const companies = Math.ceil(contacts / 10);
  const firms = fill(hub, company, companies, (i) => companyValues(i, random));
  const people = fill(hub, contact, contacts, (i) => contactValues(i, firms[i % companies], random));
  const deals = fill(hub, deal, Math.floor(contacts / 5), (i) => dealValues(i, random));
  const [plain, primary] = links.types.between(contact, company);
  const dealToContact = links.types.unlabelled(deal, contact);
  people.forEach((row, i) => {
    const firm = firms[i % companies];
    if (firm && plain && primary) links.add(i % 2 === 0 ? primary : plain, row.id, firm.id);
  });
  deals.forEach((row, i) => {
    const person = people[i * 5];
    if (person) links.add(dealToContact, row.id, person.id);
  });
  hub.portal.madeFrom = hub.ground.madeFrom;
}

function fill(
  hub: Hub,
  type: ObjectType,
  count: number,
  values: (index: number) => Record<string, string>,
): Row[] {
  const table = tableOf(hub, type);
  const rows: Row[] = [];
  for (let i = 0; i < count; i += 1) {
    const row = table.insert(values(i), FIRST_TIME + Math.floor((i / Math.max(1, count)) * SPAN_MS));
    row.indexed = row.properties;
    rows.push(row);
  }
  return rows;
}

function contactValues(i: number, firm: Row | undefined, random: Random): Record<string, string> {
  const firstname = random.pick(FIRST_NAMES);
  const lastname = random.pick(LAST_NAMES);
  return {
    email: `${firstname}.${lastname}.${i + 1}@example.com`.toLowerCase(),
    firstname,
    lastname,
    phone: `+49 30 ${100_000 + random.int(900_000)}`,
    company: firm?.properties['name'] ?? '',
    city: random.pick(CITIES),
    lifecyclestage: random.pick(STAGES),
  };
}

function companyValues(i: number, random: Random): Record<string, string> {
  const name = `${random.pick(LAST_NAMES)} ${random.pick(['Labs', 'Systems', 'Works'])} ${i + 1}`;
  return {
    name,
    domain: `${name.toLowerCase().replaceAll(' ', '-')}.example.com`,
    city: random.pick(CITIES),
    numberofemployees: String(5 + random.int(5000)),
  };
}

function dealValues(i: number, random: Random): Record<string, string> {
  return {
    dealname: `Deal ${i + 1}`,
    amount: String(100 * (1 + random.int(500))),
    pipeline: 'default',
    dealstage: random.pick(DEAL_STAGES),
  };
}
