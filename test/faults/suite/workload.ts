import { createRandom, type Random } from '../../../simulator/kit/random.ts';
import { groups, type Settings } from './settings.ts';

/** The route of a request through the platform. */
export type Route = 'queued' | 'batch' | 'synchronous' | 'autoBatch';

/** One request, with what the oracles need. */
export interface Write {
  integration: 'hubspot-crm' | 'salesforce-crm';
  object: string;
  body: Record<string, unknown>;
  kind: 'create' | 'update' | 'delete' | 'upsert';
  route: Route;
  /** One for each record, found again in the payloads, the requests and the effects. */
  markers: string[];
  /** The provider offers a key by which it becomes known what became of a lost create. */
  keyed: boolean;
  /** The record, by its id or by what it is upserted by, and the number of the change among the changes of this record. */
  target?: { id: string; order: number };
  /** All records of the request are written or none. */
  allOrNone?: true;
  /** Sent as `Idempotency-Key`, and repeated until it is answered. */
  key?: string;
}

/** Records that were there before; each caller changes its own ones, and deletes its own ones. */
export interface Seeded {
  companies: readonly string[];
  accounts: readonly string[];
}

export interface Caller {
  next(): Write;
  /** Seeded, for what else the caller has to choose. */
  random: Random;
}

const marker = /\bw[0-9a-z]+x\d+\b/g;

/** What stands for the deletion of a record, which carries no marker. */
export function deletionOf(object: string, id: string): string {
  return `deletion of ${object} ${id}`;
}

/** All markers in a text, each once. */
export function markersIn(text: string): string[] {
  return [...new Set(text.match(marker))];
}

interface Shape {
  integration: Write['integration'];
  object: string;
  /** What stands there is found by a unique field. */
  keyed: boolean;
  /** A field for a long text. */
  long?: string;
  onUnknown?: 'retry';
  fields(mark: string): Record<string, unknown>;
}

/** Of a long text: a batch of them does not come with its lane, but by itself when there is room for it. */
const longText = 'long '.repeat(6_000);
/** The share of batches of long texts. */
const longShare = 0.2;

/** Every second one has no unique field, so that the provider accepts a duplicate. */
const shapes: Record<'plain' | 'keyed' | 'loose' | 'whole', Shape[]> = {
  plain: [
    {
      integration: 'hubspot-crm',
      object: 'companies',
      keyed: false,
      long: 'description',
      fields: (mark) => ({ name: mark }),
    },
    {
      integration: 'salesforce-crm',
      object: 'Contact',
      keyed: false,
      long: 'Description',
      fields: (mark) => ({ LastName: mark }),
    },
  ],
  keyed: [
    {
      integration: 'hubspot-crm',
      object: 'contacts',
      keyed: true,
      fields: (mark) => ({ lastname: mark, email: `${mark}@faults.example` }),
    },
    {
      integration: 'salesforce-crm',
      object: 'Lead',
      keyed: true,
      long: 'Description',
      fields: (mark) => ({ LastName: mark, Company: 'Faults', External_Id__c: mark }),
    },
  ],
  // An external id that is not unique: it finds a lost create and prevents no duplicate.
  loose: [
    {
      integration: 'salesforce-crm',
      object: 'UpsertTable__c',
      keyed: true,
      onUnknown: 'retry',
      fields: (mark) => ({ Name: mark, ExtId__c: mark }),
    },
  ],
  // Salesforce writes all of a call, or nothing.
  whole: [
    {
      integration: 'salesforce-crm',
      object: 'Contact',
      keyed: false,
      long: 'Description',
      fields: (mark) => ({ LastName: mark }),
    },
    {
      integration: 'salesforce-crm',
      object: 'Lead',
      keyed: true,
      long: 'Description',
      fields: (mark) => ({ LastName: mark, Company: 'Faults', External_Id__c: mark }),
    },
  ],
};
const allShapes = [...shapes.plain, ...shapes.keyed, ...shapes.loose];

/** What records are upserted by; the values of the last one are not unique. */
const identities: { integration: Write['integration']; object: string; by: string; name: string }[] = [
  { integration: 'hubspot-crm', object: 'contacts', by: 'email', name: 'lastname' },
  { integration: 'salesforce-crm', object: 'Contact', by: 'External_Id__c', name: 'LastName' },
  { integration: 'salesforce-crm', object: 'UpsertTable__c', by: 'ExtId__c', name: 'Name' },
];

/** The share of upserts whose values are new. */
const newShare = 0.35;

/** Which records of a caller a request changes: those of one list are changed by its routes alone. */
type List = 'queued' | 'synchronous' | 'autoBatch' | 'either';
const lists: List[] = ['queued', 'synchronous', 'autoBatch', 'either'];

/** Out of 100 requests. */
const mix: [number, Write['kind'] | 'allOrNone', Route, List?][] = [
  [20, 'create', 'autoBatch'],
  [14, 'update', 'autoBatch', 'autoBatch'],
  [13, 'create', 'queued'],
  [10, 'update', 'queued', 'queued'],
  [3, 'create', 'batch'],
  [2, 'update', 'batch', 'queued'],
  [3, 'allOrNone', 'batch'],
  [5, 'create', 'synchronous'],
  [4, 'upsert', 'autoBatch', 'autoBatch'],
  [3, 'upsert', 'queued', 'queued'],
  [1, 'upsert', 'queued', 'either'],
  [2, 'upsert', 'batch', 'queued'],
  [3, 'upsert', 'synchronous', 'synchronous'],
  [1, 'upsert', 'synchronous', 'either'],
  [6, 'update', 'synchronous', 'synchronous'],
  [4, 'update', 'synchronous', 'either'],
  [3, 'update', 'queued', 'either'],
  [3, 'delete', 'synchronous'],
];
/** Few keys, so that batches fill. */
const autoBatchGroups = 2;
const recordsPerList = 2;

/** The stream of writes of one caller; the same seed gives the same stream. */
export function createCaller(at: number, settings: Settings, seeded: Seeded): Caller {
  const { seed, traffic, callers } = settings;
  const random = createRandom(seed, `caller ${at}`);
  const prefix = `w${seed.toString(36)}c${at.toString(36)}`;
  const orders = new Map<string, number>();
  const doomed = doomedOf(at, settings);
  let count = 0;
  const mark = (): string => `${prefix}x${(count += 1)}`;
  let keys = 0;
  // Not drawn: the streams of two callers are parts of one circle, and in a long run one can come to where another began.
  const newKey = (): string => `${prefix}-${(keys += 1)}`;
  const group = (route: Route): number => random.int(route === 'autoBatch' ? autoBatchGroups : groups);

  function create(route: Route, allOrNone = false): Write {
    const shape = random.pick(allOrNone ? shapes.whole : shapesOf(traffic));
    const isLong = route === 'batch' && shape.long !== undefined && random.next() < longShare;
    const size = isLong ? 12 : route === 'batch' ? 2 + random.int(11) : 1;
    const markers = Array.from({ length: size }, mark);
    const long = isLong ? { [shape.long ?? '']: longText } : {};
    const records = markers.map((one) => ({ ...shape.fields(one), ...long }));
    const { integration, object, onUnknown } = shape;
    // Salesforce may hide what it has: one that is not sent again stays unknown where it is not seen.
    const keyed = shape.keyed && !(integration === 'salesforce-crm' && route === 'synchronous');
    return {
      integration,
      object,
      kind: 'create',
      route,
      markers,
      keyed,
      body: {
        ...bodyOf('create', route, records, group(route)),
        ...(allOrNone ? { batchPolicy: { allOrNone } } : {}),
        ...(onUnknown ? { onUnknown } : {}),
      },
      ...(allOrNone ? { allOrNone } : {}),
      // The others are sent once and not repeated when there is no answer.
      ...(random.next() < 0.7 ? { key: newKey() } : {}),
    };
  }

  /** An id belongs to one caller and one group: the order of its changes is the order of their answers. */
  function update(route: Route, list: List): Write {
    const isCompany = random.next() < 0.5;
    const own = random.int(recordsPerList);
    const place = (lists.indexOf(list) * callers + at) * recordsPerList + own;
    const id = (isCompany ? seeded.companies : seeded.accounts)[place] ?? '';
    const order = (orders.get(id) ?? 0) + 1;
    orders.set(id, order);
    const one = mark();
    // Salesforce knows a record by the first 15 characters of its id, too.
    const named = !isCompany && random.next() < 0.5 ? id.slice(0, 15) : id;
    const record = isCompany ? { id, description: one } : { id: named, Description: one };
    const once = { [isCompany ? 'phone' : 'Phone']: one };
    const body = bodyOf(
      'update',
      route,
      [{ ...record, ...(list === 'autoBatch' ? {} : once) }],
      place % (route === 'autoBatch' ? autoBatchGroups : groups),
    );
    return {
      integration: isCompany ? 'hubspot-crm' : 'salesforce-crm',
      object: isCompany ? 'companies' : 'Account',
      kind: 'update',
      route,
      markers: [one],
      keyed: false,
      // Other headers make another batch of the same record.
      body: { ...body, ...(route === 'autoBatch' && !isCompany ? { headers: [random.pick(headers)] } : {}) },
      target: { id, order },
      key: newKey(),
    };
  }

  /** Of values that are new, or of one that this caller upserts again and again. */
  function upsert(route: Route, list: List): Write {
    const isNew = random.next() < newShare;
    const identity = isNew ? random.pick(identities) : identities[at % identities.length];
    if (!identity) throw new Error('there is nothing to upsert by');
    const { integration, object, by, name } = identity;
    const id = `${prefix}-${list}@${object.toLowerCase()}.example`;
    const markers = Array.from({ length: isNew && route === 'batch' ? 2 + random.int(11) : 1 }, mark);
    const records = markers.map((one) => ({ [by]: isNew ? `${one}@faults.example` : id, [name]: one }));
    const order = (orders.get(id) ?? 0) + (isNew ? 0 : 1);
    if (!isNew) orders.set(id, order);
    return {
      integration,
      object,
      kind: 'upsert',
      route,
      markers,
      keyed: true,
      body: {
        ...bodyOf('upsert', route, records, isNew ? group(route) : at % autoBatchGroups),
        upsertBy: by,
      },
      ...(isNew ? {} : { target: { id, order } }),
      // A worker sends an upsert again, also of a synchronous one of which its caller may have heard that nothing was done.
      ...(random.next() < (route === 'synchronous' ? 0.3 : isNew ? 0.7 : 1) ? { key: newKey() } : {}),
    };
  }

  function remove(): Write | undefined {
    const place = doomed.pop();
    if (place === undefined) return undefined;
    const isCompany = place % 2 === 0;
    const id = (isCompany ? seeded.companies : seeded.accounts)[place] ?? '';
    const object = isCompany ? 'companies' : 'Account';
    return {
      integration: isCompany ? 'hubspot-crm' : 'salesforce-crm',
      object,
      kind: 'delete',
      route: 'synchronous',
      markers: [deletionOf(object, id)],
      keyed: false,
      body: { groupRef: `group-${place % groups}`, type: 'delete', record: { id } },
      key: newKey(),
    };
  }

  function choose(): Write {
    if (traffic === 'upserts') return upsert('synchronous', 'synchronous');
    if (traffic !== 'mixed') return create('queued');
    let left = random.int(100);
    for (const [share, kind, route, list] of mix) {
      left -= share;
      if (left >= 0) continue;
      if (kind === 'update') return update(route, list ?? 'queued');
      if (kind === 'upsert') return upsert(route, list ?? 'queued');
      if (kind === 'delete') return remove() ?? create('queued');
      return create(route, kind === 'allOrNone');
    }
    return create('queued');
  }
  return { random, next: choose };
}

const headers = [
  { key: 'Sforce-Auto-Assign', value: 'FALSE' },
  { key: 'Sforce-Auto-Assign', value: 'TRUE' },
];

/** Places of the seeded records that this caller deletes, behind those that are changed. */
function doomedOf(at: number, { callers, writes }: Settings): number[] {
  const each = deletions({ callers, writes });
  const from = lists.length * callers * recordsPerList + at * each;
  return Array.from({ length: each }, (_, place) => from + place);
}

/** Deletions of one caller at the most. */
function deletions({ callers, writes }: Pick<Settings, 'callers' | 'writes'>): number {
  return Math.ceil((writes / callers) * 0.05) + 10;
}

/** How many records of each kind the callers need. */
export function seededRecords(settings: Settings): number {
  return settings.callers * (lists.length * recordsPerList + deletions(settings));
}

function shapesOf(traffic: Settings['traffic']): Shape[] {
  if (traffic === 'mixed') return allShapes;
  return traffic === 'plain creates' ? shapes.plain : shapes.loose;
}

function bodyOf(
  type: Write['kind'],
  route: Route,
  records: Record<string, unknown>[],
  group: number,
): Record<string, unknown> {
  const [record] = records;
  return {
    groupRef: `group-${group}`,
    type,
    mode: route === 'synchronous' ? 'synchronous' : 'asynchronous',
    ...(route === 'batch' ? { batch: records.map((one) => ({ record: one })) } : { record }),
    ...(route === 'autoBatch' ? { autoBatchPolicy: { maxDelayMinutes: 1 } } : {}),
  };
}
