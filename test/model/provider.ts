import type { HttpResult } from '../../src/kit/http/client.ts';
import {
  connectorOf,
  type Connector,
  type ProviderClient,
  type ProviderRequest,
} from '../../src/providers/index.ts';

/** What becomes of one provider call. */
export const fates = [
  'answered',
  'done, then reset',
  'lost on the way',
  'done, then 500',
  '500',
  'done, then cut off',
  'done late',
  'done, then 503',
  '503',
  'one locked',
  '429',
  'not connected',
] as const;
export type Fate = (typeof fates)[number];

/** After these nobody knows whether a write was done. */
const losing: ReadonlySet<Fate> = new Set([
  'done, then reset',
  'lost on the way',
  'done, then 500',
  'done, then cut off',
  'done late',
  'done, then 503',
  '500',
  '503',
]);

/** How long after nobody waits for its answer any more a create may be done: less than the ledger holds it for open. */
const lateMs = 90_000;

export interface Effect {
  kind: 'create' | 'update' | 'upsert' | 'delete';
  id: string;
  marker: string;
}

interface Row {
  id: string;
  object: string;
  createdAt: string;
  properties: Record<string, string>;
}

interface Late {
  inMs: number;
  perform: () => void;
}

/** A provider in memory that speaks as HubSpot does. The fates of the calls to come stand in `coming`; then all is answered. */
export interface ModelProvider {
  effects: Effect[];
  coming: Fate[];
  /** Time goes on for it: what was put off is done. */
  pass: (ms: number) => void;
  /** Told every write before anything becomes of it. */
  onWrite: (markers: string[]) => void;
  /** Told every write whose answer leaves open whether it was done. */
  onLost: (markers: string[]) => void;
  client: ProviderClient;
}

/** Objects: `companies` without a key, `contacts` with one that is enforced, `things` with one that is not. */
export const connector: Connector = withKeys();

function withKeys(): Connector {
  const hubspot = connectorOf('hubspot');
  if (!hubspot?.resolve) throw new Error('HubSpot finds lost records');
  const { resolve } = hubspot;
  return {
    ...hubspot,
    resolve: {
      ...resolve,
      settleMs: 0,
      uniqueFields: (object, description) =>
        object === 'things' ? [{ name: 'code', enforced: false }] : resolve.uniqueFields(object, description),
    },
  };
}

export function createModelProvider(): ModelProvider {
  const rows: Row[] = [];
  const late: Late[] = [];
  const provider: ModelProvider = {
    effects: [],
    coming: [],
    pass: (ms) => {
      for (const one of late) one.inMs -= ms;
      const due = late.filter(({ inMs }) => inMs <= 0);
      late.splice(0, late.length, ...late.filter(({ inMs }) => inMs > 0));
      for (const { perform } of due) perform();
    },
    onWrite: () => undefined,
    onLost: () => undefined,
    client: { send: async (request) => answer(provider, rows, late, request) },
  };
  return provider;
}

function answer(provider: ModelProvider, rows: Row[], late: Late[], request: ProviderRequest): HttpResult {
  const [, object = '', rest = ''] = /^\/crm\/v3\/objects\/(\w+)\/?(.*)$/.exec(request.path) ?? [];
  const fate = provider.coming.shift() ?? 'answered';
  const perform = (): HttpResult => reply(provider, rows, object, rest, request);
  if (rest !== 'batch/read') {
    const markers = request.method === 'DELETE' ? [rest] : markersOf(request.body);
    provider.onWrite(markers);
    if (losing.has(fate)) provider.onLost(markers);
  }
  switch (fate) {
    case 'done, then reset':
      perform();
      return { fault: { kind: 'broken', sent: true, message: 'reset' } };
    case 'done late':
      // A late change would overtake a newer one, which no platform can prevent.
      if (isCreate(rest, request)) late.push({ inMs: lateMs, perform });
      return { fault: { kind: 'timeout', sent: true, message: 'no answer' } };
    case 'lost on the way':
      return { fault: { kind: 'timeout', sent: true, message: 'no answer' } };
    case 'done, then 500':
    case 'done, then 503':
      perform();
      return said(Number(fate.slice(-3)), {});
    case 'done, then cut off': {
      const result = perform();
      return 'answer' in result ? { answer: { ...result.answer, body: '{"id":"' } } : result;
    }
    case '500':
    case '503':
      return said(Number(fate), {});
    case 'one locked':
      return isTraced(request) ? replyButFirst(provider, rows, object, rest, request) : said(423, locked);
    case '429':
      return said(429, { policyName: 'SECONDLY' });
    case 'not connected':
      return { fault: { kind: 'connect', sent: false, message: 'refused' } };
    case 'answered':
    default:
      return perform();
  }
}

function isCreate(rest: string, { method }: ProviderRequest): boolean {
  return method === 'POST' && (rest === '' || rest === 'batch/create');
}

const locked = { category: 'OBJECT_LOCKED', message: 'The record is locked.' };

/** Whether each of several inputs may fare apart from the others. */
function isTraced({ body }: ProviderRequest): boolean {
  const { inputs = [] } = (body ?? {}) as { inputs?: Input[] };
  return inputs.length > 1 && inputs.every(({ objectWriteTraceId }) => objectWriteTraceId !== undefined);
}

/** The first is refused for now, the others are done. */
function replyButFirst(
  provider: ModelProvider,
  rows: Row[],
  object: string,
  rest: string,
  request: ProviderRequest,
): HttpResult {
  const { inputs, ...others } = request.body as { inputs: Input[] };
  const [first, ...left] = inputs;
  const done = reply(provider, rows, object, rest, { ...request, body: { ...others, inputs: left } });
  if (!('answer' in done)) return done;
  const { results } = JSON.parse(done.answer.body) as { results: unknown[] };
  const context = { objectWriteTraceId: [first?.objectWriteTraceId] };
  return said(207, { results, numErrors: 1, errors: [{ ...locked, status: 'error', context }] });
}

type Input = {
  id?: string;
  idProperty?: string;
  properties: Record<string, string>;
  objectWriteTraceId?: string;
};

function reply(
  provider: ModelProvider,
  rows: Row[],
  object: string,
  rest: string,
  { method, body }: ProviderRequest,
): HttpResult {
  if (method === 'DELETE') {
    // The id of a deleted record is the marker of its write.
    provider.effects.push({ kind: 'delete', id: rest, marker: rest });
    return { answer: { status: 204, headers: {}, body: '' } };
  }
  const { inputs, idProperty } = body as { inputs: Input[]; idProperty: string };
  if (rest === 'batch/read') {
    const values = new Set(inputs.map(({ id }) => id));
    return said(200, {
      results: rows.filter((row) => row.object === object && values.has(row.properties[idProperty])),
    });
  }
  const write = (input: Input): Row | undefined =>
    input.id === undefined ? create(provider, rows, object, input) : update(provider, rows, input);
  if (rest === 'batch/create' || rest === 'batch/update') {
    const done = inputs.map((input) =>
      Object.assign({ objectWriteTraceId: input.objectWriteTraceId }, write(input)),
    );
    return said(201, { results: done.toReversed() });
  }
  if (rest === 'batch/upsert') {
    const done = inputs.map(({ objectWriteTraceId, ...input }) => {
      const { row, isNew } = upsert(provider, rows, object, input);
      return Object.assign({ objectWriteTraceId, new: isNew }, row);
    });
    return said(200, { results: done.toReversed() });
  }
  const row = write(rest === '' ? (body as Input) : { ...(body as Input), id: rest });
  return row ? said(201, row) : said(409, { category: 'CONFLICT', message: 'Contact already exists.' });
}

function create(
  { effects }: ModelProvider,
  rows: Row[],
  object: string,
  { properties }: Input,
): Row | undefined {
  const { email, mark = '' } = properties;
  if (email !== undefined && rows.some((row) => row.properties['email'] === email)) return undefined;
  const row = { id: `r${rows.length}`, object, createdAt: new Date().toISOString(), properties };
  rows.push(row);
  effects.push({ kind: 'create', id: row.id, marker: mark });
  return row;
}

/** By a property whose values are unique. */
function upsert(
  { effects }: ModelProvider,
  rows: Row[],
  object: string,
  { id = '', idProperty = '', properties }: Input,
): { row: Row; isNew: boolean } {
  const found = rows.find((row) => row.object === object && row.properties[idProperty] === id);
  const createdAt = new Date().toISOString();
  const row = found ?? { id: `r${rows.length}`, object, createdAt, properties: { [idProperty]: id } };
  if (!found) rows.push(row);
  row.properties = { ...row.properties, ...properties };
  effects.push({ kind: 'upsert', id: row.id, marker: properties['mark'] ?? '' });
  return { row, isNew: !found };
}

/** A changed record may be one from before the history. */
function update({ effects }: ModelProvider, rows: Row[], { id = '', properties }: Input): Row {
  effects.push({ kind: 'update', id, marker: properties['mark'] ?? '' });
  const row = rows.find((one) => one.id === id);
  return row ?? { id, object: '', createdAt: new Date(0).toISOString(), properties };
}

function said(status: number, body: unknown): HttpResult {
  return { answer: { status, headers: {}, body: JSON.stringify(body) } };
}

function markersOf(body: unknown): string[] {
  return [...JSON.stringify(body).matchAll(/"mark":"([^"]+)"/g)].map(([, mark = '']) => mark);
}
