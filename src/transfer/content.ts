import { Type } from 'typebox';
import { portableReads } from '../actions/read/index.ts';
import { portableConnections } from '../connections/index.ts';
import { portableDeliveries } from '../deliveries/index.ts';
import { portableInstallations } from '../installations/index.ts';
import type { Portable, PortableRow } from '../kit/db/portable.ts';
import { compileCheck } from '../kit/http/validation.ts';
import { maxIssues, type Issue } from '../kit/problem.ts';
import { Turns } from '../kit/turns.ts';
import { portableProject } from '../projects/index.ts';
import { rowsIn } from './file-text.ts';
import { issueAt, malformed, notJson } from './malformed.ts';
import { refuseExcess, refuseLongPaths } from './row-limits.ts';
import { fileVersion, firstHandingOver } from './schema.ts';

/** What is sealed in a file: the rows of each kind. */
export type Content = Record<string, PortableRow[]>;

/** Each after what it names. */
export const parts: readonly Portable[] = [
  ...portableProject,
  ...portableConnections,
  ...portableInstallations,
  ...portableDeliveries,
  ...portableReads,
];
/** Of one kind. */
export const mostRows = 20_000;
/** Of one row: as many as a manifest may unfold to, and more than a body may hold. */
const mostRowValues = 50_000;
/** Of one statement. Sealing takes most of the time: about 50 µs for each row, and more where others work, too. */
const sliceRows = 200;
const sliceLength = 1024 * 1024;
/** The first version of files that says of which groups a consumer is. */
const firstWithConsumers = 2;

interface Name {
  kind: string;
  by: readonly string[];
  named: string;
  as: readonly string[];
  /** Files of versions before hold nothing that it names. */
  from?: number;
}

/** What names what: the columns of a kind, and the kind whose columns they hold. An installation outlives its connection, and a connection its provider app. */
const names: readonly Name[] = [
  {
    kind: 'integrations',
    by: ['id', 'latest_revision_id'],
    named: 'revisions',
    as: ['integration_id', 'id'],
  },
  { kind: 'installations', by: ['integration_id'], named: 'integrations', as: ['id'] },
  { kind: 'installations', by: ['id', 'config_id'], named: 'configs', as: ['installation_id', 'id'] },
  { kind: 'connections', by: ['group_ref'], named: 'groups', as: ['group_ref'] },
  {
    kind: 'connections',
    by: ['group_ref', 'consumer_ref'],
    named: 'consumers',
    as: ['group_ref', 'consumer_ref'],
    from: firstWithConsumers,
  },
  { kind: 'topicDestinationRoutes', by: ['destination_id'], named: 'destinations', as: ['id'] },
  { kind: 'notificationRoutes', by: ['destination_id'], named: 'destinations', as: ['id'] },
];

/** Whether nothing names what is not in it. */
export async function namesAll(content: Content): Promise<boolean> {
  return (await lostNames(content)).length === 0;
}

/** Installations whose connection is not in it. */
export async function withoutConnection(
  content: Content,
): Promise<{ connectionId: string; groupRef: string }[]> {
  const there = new Set(await valuesOf(content['connections'], ['id']));
  const groups = await valuesOf(content['installations'], ['group_ref']);
  const ids = await valuesOf(content['installations'], ['connection_id']);
  return ids.flatMap((connectionId, index) =>
    there.has(connectionId) ? [] : [{ connectionId, groupRef: groups[index] ?? '' }],
  );
}

async function lostNames(content: Content, version: number = fileVersion): Promise<Issue[]> {
  const found: Issue[] = [];
  for (const { kind, by, named, as, from = 1 } of names) {
    if (version < from) continue;
    const there = new Set(await valuesOf(content[named], as, '\n'));
    const column = by.at(-1) ?? '';
    const values = await valuesOf(content[kind], by, '\n');
    for (const [index, value] of values.entries())
      if (!there.has(value))
        found.push(
          issueAt(`${kind}[${index}].${column}`, `names nothing that is among the ${named} of the file`),
        );
  }
  return found;
}

/** Rows of one kind that have the same key. */
async function repeatedKeys(content: Content): Promise<Issue[]> {
  const found: Issue[] = [];
  for (const { kind, key } of parts) {
    const seen = new Set<string>();
    for (const [index, value] of (await valuesOf(content[kind], key, '\n')).entries())
      if (seen.has(value))
        found.push(issueAt([`${kind}[${index}]`, ...key.slice(-1)].join('.'), 'is there twice'));
      else seen.add(value);
  }
  return found;
}

/** What the columns hold in each row, as one text. References hold blanks, and no ends of lines. */
export async function valuesOf(
  rows: readonly PortableRow[] = [],
  columns: readonly string[],
  between = ' ',
): Promise<string[]> {
  const turns = new Turns();
  const found: string[] = [];
  for (const { row } of rows) {
    const values = JSON.parse(row) as Record<string, unknown>;
    found.push(columns.map((column) => String(values[column])).join(between));
    await turns.pass();
  }
  return found;
}

const checkShape = compileCheck(
  Type.Object({ row: Type.String(), secret: Type.Optional(Type.Unknown()) }, { additionalProperties: false }),
);
const byKind = new Map(parts.map((part) => [part.kind, part]));

/**
 * The content of an opened file, in which each row is as one of its kind has to be. Others have the event loop between
 * the steps of each row. Throws export-malformed.
 */
export async function readContent(bytes: Buffer, version: number = fileVersion): Promise<Content> {
  const turns = new Turns();
  const content: Content = {};
  const found: Issue[] = [];
  for (const { kind, name, bytes: text } of rowsIn(bytes, { kinds: byKind, mostRows })) {
    await turns.pass();
    // The first version did not say of which groups a consumer is. They come in with their connections, by their refs.
    if (version < firstWithConsumers && kind === 'consumers') continue;
    const former = version < firstHandingOver && kind === 'connections' ? withAsOf : undefined;
    const { row, issues } = await readRow(text, { name, part: byKind.get(kind), turns, former });
    found.push(...issues);
    // Enough to show; what follows is not looked at.
    if (found.length > maxIssues) break;
    if (row) (content[kind] ??= []).push(row);
  }
  if (found.length === 0)
    found.push(...(await lostNames(content, version)), ...(await repeatedKeys(content)));
  if (found.length > 0) throw malformed(found);
  return content;
}

/** Connections of versions before the third do not say as of when they are known: no later than their last change. They are not handed over. */
function withAsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { generation: _counted, ...row } = value as Record<string, unknown>;
  return { ...row, as_of: row['updated_at'], signed_in_at: null, moved_at: null };
}

/** Throws export-malformed, by the ids of rows, for what an import would refuse. */
export async function requireFit(content: Content): Promise<void> {
  const turns = new Turns();
  const found = await lostNames(content);
  for (const [kind, rows] of Object.entries(content))
    for (const [index, row] of rows.entries()) {
      const { id = index } = JSON.parse(row.row) as { id?: string };
      const reading = { name: `${kind}[${id}]`, part: byKind.get(kind), turns };
      found.push(...(await checkRow({ ...row }, reading)));
      if (found.length > maxIssues) throw malformed(found);
    }
  if (found.length > 0) throw malformed(found);
}

interface Reading {
  name: string;
  part: Portable | undefined;
  turns: Turns;
  /** What a row of an earlier version is in this one. */
  former?: ((value: unknown) => unknown) | undefined;
}

async function readRow(text: Buffer, reading: Reading): Promise<{ row?: PortableRow; issues: Issue[] }> {
  const outer = parsed(text.toString('utf8'), reading.name);
  const { issues } = checkShape(outer, 'body', reading.name);
  if (issues.length > 0) return { issues };
  await reading.turns.pass();
  const row = outer as PortableRow;
  return { row, issues: await checkRow(row, reading) };
}

/** The row is written anew, so that what is stored is what was checked. */
async function checkRow(row: PortableRow, { name: at, part, turns, former }: Reading): Promise<Issue[]> {
  refuseExcess(Buffer.from(row.row), mostRowValues, `${at}.row`);
  await turns.pass();
  const value = parsed(row.row, at);
  refuseLongPaths(value, `${at}.row`);
  await turns.pass();
  row.row = JSON.stringify(former ? former(value) : value);
  await turns.pass();
  const faults = (part?.faults(row) ?? []).slice(0, maxIssues + 1);
  await turns.pass();
  const found: Issue[] = [];
  for (const { name, ...fault } of faults)
    found.push({ in: 'body', name: name === '' ? at : `${at}.${name}`, ...fault });
  return found;
}

function parsed(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(at);
  }
}

/** The rows in parts that are small enough for one statement each: the event loop is free between them. */
export function* inSlices(rows: readonly PortableRow[]): Generator<PortableRow[]> {
  let slice: PortableRow[] = [];
  let length = 0;
  for (const one of rows) {
    slice.push(one);
    length += one.row.length;
    if (slice.length < sliceRows && length < sliceLength) continue;
    yield slice;
    slice = [];
    length = 0;
  }
  if (slice.length > 0) yield slice;
}

/** The text of a file that holds the content; undefined when it is longer than `most` bytes. */
export async function writeContent(content: Content, most: number): Promise<Buffer[] | undefined> {
  const turns = new Turns();
  const written: Buffer[] = [];
  let left = most;
  const add = (text: string): void => {
    const bytes = Buffer.from(text);
    left -= bytes.length;
    written.push(bytes);
  };
  for (const [kind, rows] of Object.entries(content)) {
    add(`${written.length === 0 ? '{' : ','}${JSON.stringify(kind)}:[`);
    let before = '';
    for (const slice of inSlices(rows)) {
      add(before + slice.map((row) => JSON.stringify(row)).join(','));
      before = ',';
      if (left < 0) return undefined;
      await turns.pass();
    }
    add(']');
  }
  add('}');
  return left < 0 ? undefined : written;
}
