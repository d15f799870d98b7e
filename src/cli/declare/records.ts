import { Option, type Command } from 'commander';
import { actionTypes, categories, statuses } from '../../operations/words-schema.ts';
import type { WriteOptions } from '../write/options.ts';
import { calling, filled, inOrder, listing, named, several, time, uuid, visible, whole } from './command.ts';

/** Records at providers: written, read, called for, and what became of it. */
export function declareRecords(program: Command): void {
  declareWrite(program);
  const read = calling(
    program,
    'read',
    'read an object of a customer now, into the destination of the object',
    'svc read hubspot-crm contacts --group acme --since 2026-11-01',
  )
    .argument('<integration>', 'its name or id', named)
    .argument('<object>', 'as the manifest names it', filled)
    .requiredOption('-g, --group <ref>', 'the group whose account is read', filled)
    .option('--since <time>', 'what changed since then; all unless told', time)
    .option('--until <time>', 'what changed until then', time)
    .action(async (integration: string, object: string, options) =>
      (await import('../read.ts')).read(integration, object, options),
    );
  inOrder(read, 'since', 'until');
  declareProxy(program);
  const operations = program.command('operations').description('look at what was done, and wait for it');
  declareOperations(operations);
  declareUnfinished(operations);
}

const writeExamples = `svc write hubspot-crm contacts --group acme --data '{"email":"ada@example.com"}'
  svc write hubspot-crm contacts --group acme --mode asynchronous --file contacts.ndjson

Each line of a file, or of what is piped in, is one record. The same file can be sent again, as
after Ctrl+C: a line that was done is not done twice within 7 days, unless --run has another name.`;

function declareWrite(program: Command): void {
  calling(program, 'write', 'create, update, upsert or delete records', writeExamples)
    .argument('<integration>', 'its name or id', named)
    .argument('<object>', 'as the manifest names it', filled)
    .requiredOption('-g, --group <ref>', 'the group whose account is written to', filled)
    .addOption(
      new Option('-t, --type <type>').choices(['create', 'update', 'upsert', 'delete']).default('create'),
    )
    .option('--by <field>', 'with --type upsert: the field that tells the records apart')
    .addOption(
      new Option('-m, --mode <mode>').choices(['synchronous', 'asynchronous']).default('synchronous'),
    )
    .option('-d, --data <json>', 'one record; @file, or - for what is piped in')
    .option('-f, --file <file>', 'records, one JSON object a line')
    .option('--dry-run', 'with --data: say what would be sent')
    .option('--idempotency-key <key>', 'with --data: stands for this write', visible)
    .option('--run <name>', 'writes the lines again that were written under another name')
    .option('--concurrency <count>', 'how many lines at once', whole(1, 100), 8)
    .action(async (integration: string, object: string, options: WriteOptions) =>
      (await import('../write/write.ts')).write(integration, object, options),
    );
}

function declareProxy(program: Command): void {
  calling(
    program,
    'proxy',
    "call the provider's own API with the credentials of a customer",
    "svc proxy '/crm/v3/objects/contacts?limit=1' --integration hubspot-crm --group acme",
    `svc proxy /crm/v3/objects/contacts -i hubspot-crm -g acme -d '{"properties":{}}'`,
  )
    .argument('<path>', 'with its query, as the provider has it', filled)
    .option('-i, --integration <name>', 'the integration', named)
    .option('-g, --group <ref>', 'the group whose account is called', filled)
    .option('--installation <id>', 'instead of those two', uuid)
    .option('-X, --request <method>', 'GET unless told, POST with --data')
    .option('-H, --header <header>', "'Name: value'; may be given several times", several)
    .option('-d, --data <body>', 'the body; @file, or - for what is piped in')
    .option('--include', 'tell the status and the headers, too')
    .option('--proxy-url <url>', 'where the proxy is (SVC_PROXY_URL); the port after the one of the server')
    .action(async (path: string, options) => (await import('../proxy.ts')).proxy(path, options));
}

const itsId = 'its id';
const partlyDone = 'a success of which some records were not done, or nobody knows';

function declareOperations(operations: Command): void {
  narrowed(
    listing(
      operations,
      'list',
      'operations, newest first',
      'svc operations list --status failure --group acme',
      'svc operations list --category providerDown --from 2026-11-22',
    )
      .addOption(new Option('--status <status>').choices(statuses))
      .addOption(new Option('--action <action>', 'what was done').choices(actionTypes))
      .option('--partly-done', partlyDone)
      .option(
        '--unresolved',
        'with a record of unknown outcome; svc operations resolve says what became of it',
      ),
  ).action(async (options) => (await import('../operations.ts')).listOperations(options));
  calling(operations, 'get', 'an operation', 'svc operations get 0192f0c1-…')
    .argument('<operation>', itsId, named)
    .action(async (id: string, options: object) =>
      (await import('../operations.ts')).getOperation(id, options),
    );
  calling(
    operations,
    'watch',
    'wait until an operation has ended; the exit code is 1 when it failed',
    'svc operations watch 0192f0c1-… --timeout 60',
  )
    .argument('<operation>', itsId, named)
    .option('--timeout <seconds>', 'how long to wait at the most', whole(1, 1_000_000))
    .action(async (id: string, options: object) =>
      (await import('../operations.ts')).watchOperation(id, options),
    );
  listing(operations, 'records', 'what became of each record of a write', 'svc operations records 0192f0c1-…')
    .argument('<operation>', itsId, named)
    .action(async (id: string, options) => (await import('../operations.ts')).operationRecords(id, options));
  listing(
    operations,
    'exchanges',
    'what the provider was sent for an operation, and what it answered',
    'svc operations exchanges 0192f0c1-… --json',
  )
    .argument('<operation>', itsId, named)
    .action(async (id: string, options) =>
      (await import('../operations.ts')).operationExchanges(id, options),
    );
  listing(operations, 'logs', 'what an operation told of itself', 'svc operations logs 0192f0c1-…')
    .argument('<operation>', itsId, named)
    .action(async (id: string, options) => (await import('../operations.ts')).operationLogs(id, options));
}

function declareUnfinished(operations: Command): void {
  calling(
    operations,
    'resolve',
    'say what became of records whose outcome is unknown',
    'svc operations resolve 0192f0c1-… --as applied --record-id 501',
    'svc operations resolve 0192f0c1-… --as notApplied --index 3',
  )
    .argument('<operation>', itsId, named)
    .addOption(
      new Option('--as <resolution>', 'whether the provider has it')
        .choices(['applied', 'notApplied'])
        .makeOptionMandatory(),
    )
    .option('--index <n>', 'of one record of the operation; all unless told', whole(0, 99))
    .option('--record-id <id>', 'the id that the provider gave it')
    .action(async (id: string, options) => (await import('../operations.ts')).resolveOperation(id, options));
  asked(
    calling(
      operations,
      'retry',
      'write again what failed of an operation, or of all that are found, in new operations; once, however often it is said',
      'svc operations retry 0192f0c1-…',
      'svc operations retry --category providerDown --from 2026-11-22 --dry-run',
    )
      .argument('[operation]', itsId, named)
      .option('--partly-done', partlyDone),
  ).action(async (id: string | undefined, options: object) =>
    (await import('../operations.ts')).retryOperations(id, options),
  );
  asked(
    calling(
      operations,
      'cancel',
      'end, unsent, what waits of the writes that are found; what is being sent goes on',
      'svc operations cancel --group acme --object contacts',
    ),
  ).action(async (options: object) =>
    (await import('../operations-many.ts')).manyOperations('cancel', options),
  );
}

/** Which operations are meant. */
function narrowed(operations: Command): Command {
  operations
    .addOption(new Option('--category <category>', 'with a failure of this category').choices(categories))
    .option('-g, --group <ref>', 'of this group', filled)
    .option('--object <name>', 'of this object, as the provider names it', filled)
    .option('--installation <id>', 'of this installation', uuid)
    .option('--from <time>', 'accepted at this time or later', time)
    .option('--to <time>', 'accepted before this time', time);
  return inOrder(operations, 'from', 'to');
}

/** Does something to all that are meant. */
function asked(operations: Command): Command {
  return narrowed(operations)
    .option('--dry-run', 'only count them')
    .option('-y, --yes', 'do not ask before that');
}
