import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../simulator/kit/random.ts';
import { mergeContacts, simulator } from '../../customer.ts';
import { hang } from '../suite/provider-faults.ts';
import type { ReadSettings } from './settings.ts';

/** A contact as the provider has it. */
export interface Contact {
  id: string;
  version: string;
  deleted: boolean;
}

/** A third of the contacts each, so that many share a time of change. */
const old = ['2025-01-01T00:00:00.000Z', '2025-01-01T00:00:01.000Z', '2025-03-01T12:00:00.000Z'];
const atOnce = 5_000;
/** The provider's clock is behind that of the nodes. */
const behindMs = 10_000;

/** Makes the contacts, and sets how the provider behaves while it is read. */
export async function seedContacts(
  url: string,
  { contacts, lagMs: [searchLagMs, most] }: ReadSettings,
): Promise<void> {
  for (let made = 0; made < contacts; made += atOnce) {
    const records = Array.from({ length: Math.min(atOnce, contacts - made) }, (_, at) => ({
      properties: { lastname: 'first', email: `c${made + at}@acme.example` },
      updatedAt: old[(made + at) % old.length],
    }));
    await simulator(url, 'POST', '/data', { object: 'contacts', records });
  }
  await simulator(url, 'POST', '/quotas', { burstMax: null, searchPerSecond: 20 });
  await simulator(url, 'POST', '/clock', { advanceMs: -behindMs });
  // Moving the clock must not end tokens.
  const accessLifeMs = 1_000 * 24 * 3_600_000;
  const late = { searchLagMs, searchLagJitterMs: most - searchLagMs };
  await simulator(url, 'POST', '/settings', { ...late, accessLifeMs });
}

/** All contacts as they are now; those that were merged are gone, and only what came of them names them. */
export async function contactsAt(url: string): Promise<Contact[]> {
  const { records } = await simulator<{
    records: { id: string; archived: boolean; properties: Record<string, string> }[];
  }>(url, 'GET', '/data/contacts');
  return records.flatMap(({ id, archived, properties }) => {
    const version = new Date(properties['lastmodifieddate'] ?? '').toISOString();
    const merged = properties['hs_merged_object_ids']?.split(';') ?? [];
    const gone = merged.map((one) => ({ id: one, version, deleted: true }));
    return [{ id, version, deleted: archived }, gone].flat();
  });
}

export interface Changes {
  edited: number;
  created: number;
  deleted: number;
  merged: number;
  linked: number;
}

/** The companies that contacts are associated with, by contact, in the order of their ids. */
export type Links = Map<string, string[]>;

const companies = 20;

/** Makes what contacts are associated with; answers the ids. */
async function seedCompanies(url: string): Promise<string[]> {
  const records = Array.from({ length: companies }, (_, at) => ({ properties: { name: `company ${at}` } }));
  return (await simulator<{ ids: string[] }>(url, 'POST', '/data', { object: 'companies', records })).ids;
}

const pauseMs = 150;

/** Notes what the contacts are associated with at the start. */
async function readLinks(url: string, links: Links): Promise<void> {
  const { records } = await simulator<{ records: { id: string }[] }>(url, 'GET', '/data/companies');
  for (const { id } of records) {
    const { associations } = await simulator<{ associations: { contacts?: { id: string }[] } }>(
      url,
      'GET',
      `/data/companies/${id}`,
    );
    for (const contact of associations.contacts ?? [])
      links.set(contact.id, [...(links.get(contact.id) ?? []), id].toSorted());
  }
}

/** A contact gets a company that it does not have, or loses one that it has. */
async function changeLink(url: string, links: Links, id: string, company: string): Promise<void> {
  const linked = links.get(id) ?? [];
  const isThere = linked.includes(company);
  const how = isThere ? 'disassociate' : 'associate';
  await simulator(url, 'POST', '/data', {
    object: 'contacts',
    [how]: [{ id, to: 'companies', toIds: [company] }],
  });
  links.set(id, isThere ? linked.filter((one) => one !== company) : [...linked, company].toSorted());
}

/** While the provider is silent a call to it does nothing. */
async function untilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error && error.name === 'TimeoutError')) throw error;
    }
  }
}

/** Two contacts become one, which nobody changes from then on: each change would tell of the merge again. */
async function merge(url: string, links: Links, primary: string, other: string): Promise<void> {
  const into = await untilAnswered(() => mergeContacts(url, primary, other));
  const linked = [primary, other].flatMap((id) => links.get(id) ?? []);
  links.set(into, [...new Set(linked)].toSorted());
  for (const id of [primary, other]) links.delete(id);
}

/** Edits, creates, deletes, merges and associates contacts until it is over, some in one moment each. */
export async function changeContacts(
  url: string,
  { seed }: ReadSettings,
  links: Links,
  over: () => boolean,
): Promise<Changes> {
  const random = createRandom(seed, 'contacts');
  const ids = (await contactsAt(url)).map(({ id }) => id);
  await readLinks(url, links);
  const targets = await seedCompanies(url);
  const changes = { edited: 0, created: 0, deleted: 0, merged: 0, linked: 0 };
  for (let turn = 1; !over(); turn += 1) {
    const properties = { lastname: `turn ${turn}` };
    const edits = Array.from({ length: 1 + random.int(8) }, () => ({ id: random.pick(ids), properties }));
    const creates = Array.from({ length: random.int(3) }, () => ({ properties }));
    const gone = random.int(3) === 0 ? ids.splice(random.int(ids.length), 1) : [];
    // In the simulator an edit would bring a deleted contact back.
    const known = edits.filter(({ id }) => !gone.includes(id));
    const made = await simulator<{ ids: string[] }>(url, 'POST', '/data', {
      object: 'contacts',
      records: [...known, ...creates],
      delete: gone,
    });
    ids.push(...made.ids.slice(known.length));
    changes.edited += known.length;
    changes.created += creates.length;
    changes.deleted += gone.length;
    // A deleted contact has no associations.
    for (const id of gone) links.delete(id);
    const [primary, other] = random.int(3) === 0 ? ids.splice(random.int(ids.length - 1), 2) : [];
    if (primary !== undefined && other !== undefined) {
      await merge(url, links, primary, other);
      changes.merged += 1;
    }
    await changeLink(url, links, random.pick(ids), random.pick(targets));
    changes.linked += 1;
    await sleep(pauseMs);
  }
  return changes;
}

const pages = String.raw`/crm/v3/objects/contacts(\?|/search)|/crm/v4/associations`;
const rateLimit = {
  status: 'error',
  errorType: 'RATE_LIMIT',
  policyName: 'SECONDLY',
  message: 'You have reached your secondly limit.',
};
const faults = [
  { kind: 'status', status: 429, body: rateLimit },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'html', status: 502 },
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'truncate' },
  { kind: 'malformed' },
  { kind: 'hang' },
];

/** From now on this share of the pages is answered by a fault (seeded). */
export async function breakPages(url: string, { providerFaults }: ReadSettings): Promise<void> {
  await simulator(url, 'DELETE', '/faults');
  const probability = providerFaults / faults.length;
  for (const fault of faults)
    await simulator(url, 'POST', '/faults', { path: pages, fault, probability, times: 1e9 });
}

/** For this long nothing is answered. */
export async function beSilent(url: string, settings: ReadSettings, forMs: number): Promise<void> {
  await hang(url);
  await sleep(forMs);
  await breakPages(url, settings);
}
