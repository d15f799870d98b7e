import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Each table and the room whose stores read and write it. */
const owners: Record<string, string> = {
  activity: 'events',
  activity_delta: 'events',
  audit_log: 'events',
  event: 'events',
  lane: 'lanes',
  turn: 'lanes',
  wake: 'lanes',
  work: 'lanes',
  api_key: 'projects',
  connect_link: 'projects',
  integration: 'projects',
  jwt_key: 'projects',
  invitation: 'people',
  member: 'people',
  person: 'people',
  person_identity: 'people',
  person_session: 'people',
  second_factor: 'people',
  sign_in_failure: 'people',
  project: 'projects',
  provider_app: 'projects',
  rate_limit: 'projects',
  revision: 'projects',
  budget: 'connections',
  connection: 'connections',
  consumer: 'connections',
  customer_group: 'connections',
  group_consumer: 'connections',
  oauth_flow: 'connections',
  config: 'installations',
  former_installation: 'installations',
  installation: 'installations',
  exchange: 'operations',
  idempotency: 'operations',
  operation: 'operations',
  operation_delta: 'operations',
  operation_log: 'operations',
  operation_mark: 'operations',
  written_record: 'operations',
  record: 'operations',
  delivery: 'deliveries',
  destination: 'deliveries',
  event_topic_route: 'deliveries',
  message: 'deliveries',
  notification_route: 'deliveries',
  topic: 'deliveries',
  topic_destination_route: 'deliveries',
  replay: 'deliveries',
  erasure: 'retention',
  ab_batch: 'actions',
  ab_head: 'actions',
  ab_turn: 'actions',
  proxy_log: 'actions',
  read_feed: 'actions',
  read_link: 'actions',
  read_run: 'actions',
  read_seen: 'actions',
  read_stale: 'actions',
  clock: 'kit',
  lineage: 'kit',
  master_key: 'kit',
};

/** What another room's store does with a table, and why. */
const exceptions: Record<string, string> = {
  'actions reads clock': 'not the table: a part of the statement that the fragment is put into',
  'actions reads idempotency':
    'a write that was repeated takes no place in a batch, which is decided as it joins',
  'actions reads record':
    'whether a record joined its batch is found by its place, after the answer was lost',
  'actions reads installation':
    'a run begins in the lane of the connection that the installation has in that transaction',
  'actions reads integration': 'the same; its provider is told with the operation',
  'actions writes record':
    'a record joins its open batch, claims its key and wakes the lane in one statement',
  'actions writes wake': 'an overdue batch wakes the lane that seals it',
  'connections reads provider_app':
    'the app is shown with its connection, which a list must not ask for one by one',
  'deliveries reads work': 'what waits to be delivered is what there is work for',
  'deliveries writes work': 'a message and its work are kept together, in one statement',
  'events reads clock': 'not the table: a part of the statement that the fragment is put into',
  'installations reads connection':
    'the status is shown with the installation, and the row is held while one comes to it',
  'installations reads group_consumer': 'an event names whose connection it is, as it is in the transaction',
  'installations reads customer_group':
    'the name is shown with the installation, which a list must not ask for one by one',
  'installations reads integration':
    'the target of an action is one joined row, read on the hot path, and the row is held while one is installed',
  'installations reads revision': 'the same',
  'kit reads erasure': 'a part of the statements that store late what an erasure has removed by then',
  'lanes reads clock': 'not the table: a part of the statements that this fragment is put into',
  'operations reads ab_batch': 'the gauge of what waits counts open batches too, in one statement',
  'operations reads connection': 'the gauge of what waits tells dead credentials apart in one statement',
  'operations reads installation': 'an operation is shown to the group of its installation only',
  'operations reads former_installation': 'the same, once that was deleted',
  'operations writes former_installation': 'it goes with the last of its operations',
  'operations reads lane': 'an acceptance is marked under the lease of its lane, in one statement',
  'operations reads turn': 'the same, and a parked one is looked after by who accepted it',
  'operations reads work': 'the same',
  'operations reads clock': 'not the table: a part of the statements that these fragments are put into',
  'people reads project':
    'a person is shown with the names of their projects, read on the path of each request',
  'operations writes turn': 'an operation, its work and its turn are accepted together, in one statement',
  'operations writes work': 'the same',
};

interface Use {
  room: string;
  verb: 'reads' | 'writes';
  table: string;
  file: string;
}

const madeOrRenamed =
  /^CREATE (?:UNLOGGED )?TABLE (?<made>\w+)\b(?! PARTITION OF)|^ALTER TABLE (?<from>\w+) RENAME TO (?<to>\w+)|^DROP TABLE (?<gone>\w+)/gm;

/** As the migrations leave them, by name. */
function tablesMade(): string[] {
  const found = new Set<string>();
  for (const file of globSync('migrations/*.sql', { cwd: root }).toSorted())
    for (const { groups: { made, from, to, gone } = {} } of readFileSync(join(root, file), 'utf8').matchAll(
      madeOrRenamed,
    )) {
      for (const name of [from, gone]) if (name) found.delete(name);
      const there = made ?? to;
      if (there) found.add(there);
    }
  return [...found];
}
const tables = tablesMade();

/** Every use of a table in the SQL of the sources. */
function usesIn(file: string): Use[] {
  const [, room = ''] = file.split('/');
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const named = text.matchAll(/(\w+)(?:\s*\([\w, ]*\))?\s+AS\s+(?:(?:NOT )?MATERIALIZED\s+)?\(/g);
  const ofTheStatement = new Set([...named].map(([, name]) => name));
  return [...text.matchAll(/\b(INTO|UPDATE|DELETE FROM|FROM|JOIN)\s+(?:ONLY\s+)?(\w+)/g)]
    .filter(([, , table = '']) => tables.includes(table) && !ofTheStatement.has(table))
    .map(([, word = '', table = '']) => ({
      room,
      verb: word === 'FROM' || word === 'JOIN' ? 'reads' : 'writes',
      table,
      file,
    }));
}

const sources = globSync('src/**/*.ts', { cwd: root }).filter(
  (file) => !/\.(test|testsuite|fixture)\.ts$/.test(file),
);
const uses = sources.flatMap(usesIn);
const foreign = uses.filter(({ room, table }) => owners[table] !== room);
const said = ({ room, verb, table }: Use): string => `${room} ${verb} ${table}`;

describe('tables', () => {
  it('each has one room, and no room is named for a table that is gone', () => {
    expect(Object.keys(owners).toSorted()).toEqual(tables.toSorted());
  });

  it('each is read and written by the stores of its room only, with the exceptions above', () => {
    const wrong = foreign.filter((use) => !(said(use) in exceptions));
    expect(wrong.map((use) => `${said(use)} (${use.file})`)).toEqual([]);
  });

  it('each exception is still needed', () => {
    expect(Object.keys(exceptions).toSorted()).toEqual([...new Set(foreign.map(said))].toSorted());
  });

  it('only stores hold SQL', () => {
    const elsewhere = uses.filter(
      ({ file, room }) => room !== 'kit' && !/(^|[/-])store(\/|\.ts$)/.test(file),
    );
    expect([...new Set(elsewhere.map(({ file }) => file))]).toEqual([]);
  });
});
