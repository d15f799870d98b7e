import { createRandom, type Random } from '../../../simulator/kit/random.ts';
import { groups, type Settings } from './settings.ts';

/** How a request takes its way through the platform. */
export type Route = 'queued' | 'batch' | 'synchronous' | 'autoBatch';

/** One request, and what the oracles must know of it. */
export interface Write {
  integration: 'hubspot-crm' | 'salesforce-crm';
  object: string;
  body: Record<string, unknown>;
  kind: 'create' | 'update';
  route: Route;
  /** One for each record, found again in the payloads, the requests and the effects. */
  markers: string[];
  /** The provider offers a key by which a lost create can be found. */
  keyed: boolean;
  /** For updates: the record, and the number of the change among the changes of this record by this route. */
  target?: { id: string; order: number; ordered: boolean };
  /** Sent as `Idempotency-Key`, and repeated until it is answered. */
  key?: string;
}

/** Records of which each caller changes its own ones. */
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

/** All markers in a text, each once. */
export function markersIn(text: string): string[] {
  return [...new Set(text.match(marker))];
}

interface Shape {
  integration: Write['integration'];
  object: string;
  keyed: boolean;
  fields(mark: string): Record<string, unknown>;
}

/** Every second one has nothing that tells its records apart, so that the provider takes a second one without a word. */
const shapes: Record<'plain' | 'keyed' | 'loose', Shape[]> = {
  plain: [
    {
      integration: 'hubspot-crm',
      object: 'companies',
      keyed: false,
      fields: (mark) => ({ name: mark }),
    },
    {
      integration: 'salesforce-crm',
      object: 'Contact',
      keyed: false,
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
      fields: (mark) => ({ LastName: mark, Company: 'Faults', External_Id__c: mark }),
    },
  ],
  // An external id that is not unique: it finds a lost create, and keeps no second one out.
  loose: [
    {
      integration: 'salesforce-crm',
      object: 'UpsertTable__c',
      keyed: true,
      fields: (mark) => ({ Name: mark, ExtId__c: mark }),
    },
  ],
};
const allShapes = [...shapes.plain, ...shapes.keyed, ...shapes.loose];

/** Out of 100 requests. */
const mix: [number, Write['kind'], Route][] = [
  [27, 'create', 'autoBatch'],
  [18, 'update', 'autoBatch'],
  [20, 'create', 'queued'],
  [12, 'update', 'queued'],
  [3, 'create', 'batch'],
  [2, 'update', 'batch'],
  [10, 'create', 'synchronous'],
  [8, 'update', 'synchronous'],
];
/** Few keys, so that batches fill. */
const autoBatchGroups = 2;
const recordsPerRoute = 2;

/** The stream of writes of one caller; the same seed gives the same stream. */
export function createCaller(at: number, { seed, traffic, callers }: Settings, seeded: Seeded): Caller {
  const random = createRandom(seed, `caller ${at}`);
  const prefix = `w${seed.toString(36)}c${at.toString(36)}`;
  const orders = new Map<string, number>();
  let count = 0;
  const mark = (): string => `${prefix}x${(count += 1)}`;

  function choose(): [Write['kind'], Route] {
    if (traffic !== 'mixed') return ['create', 'queued'];
    let left = random.int(100);
    for (const [share, kind, route] of mix) {
      left -= share;
      if (left < 0) return [kind, route];
    }
    return ['create', 'queued'];
  }

  function create(route: Route): Write {
    const shape = random.pick(shapesOf(traffic));
    const size = route === 'batch' ? 2 + random.int(11) : 1;
    const markers = Array.from({ length: size }, mark);
    const records = markers.map((one) => shape.fields(one));
    const { integration, object, keyed } = shape;
    return {
      integration,
      object,
      kind: 'create',
      route,
      markers,
      keyed,
      body: bodyOf('create', route, records, group(route)),
      // The others are sent once, and left alone when nobody answers.
      ...(random.next() < 0.7 ? { key: random.uuid() } : {}),
    };
  }

  const group = (route: Route): number => random.int(route === 'autoBatch' ? autoBatchGroups : groups);

  /** An id belongs to one caller, one route and one group: the order of its changes is the order of their answers. */
  function update(route: Route): Write {
    const isCompany = random.next() < 0.5;
    const ids = isCompany ? seeded.companies : seeded.accounts;
    const kinds: Route[] = ['queued', 'synchronous', 'autoBatch'];
    const lane = kinds.indexOf(route === 'batch' ? 'queued' : route);
    const own = random.int(recordsPerRoute);
    const place = (lane * callers + at) * recordsPerRoute + own;
    const id = ids[place] ?? '';
    const order = (orders.get(id) ?? 0) + 1;
    orders.set(id, order);
    const one = mark();
    const record = isCompany ? { id, description: one } : { id, Description: one };
    return {
      integration: isCompany ? 'hubspot-crm' : 'salesforce-crm',
      object: isCompany ? 'companies' : 'Account',
      kind: 'update',
      route,
      markers: [one],
      keyed: false,
      body: bodyOf('update', route, [record], place % (route === 'autoBatch' ? autoBatchGroups : groups)),
      target: { id, order, ordered: route !== 'synchronous' },
      key: random.uuid(),
    };
  }

  return {
    random,
    next() {
      const [kind, route] = choose();
      return kind === 'create' ? create(route) : update(route);
    },
  };
}

/** How many records of each kind the callers need for their updates. */
export function seededRecords({ callers }: Settings): number {
  return 3 * callers * recordsPerRoute;
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
