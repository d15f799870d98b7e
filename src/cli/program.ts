import { Command, InvalidArgumentError, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { ConnectionOptions } from './connection.ts';
import type { WriteOptions } from './write/options.ts';

const operators = `
Commands of the operator:
  all | api | worker   start svc, whole or in part; without a command it starts whole
  migrate              bring the database to this release
  keys rotate          rewrap what is sealed with the newest master key
  keys create --full   make an API key with all rights

Server, project and key come from the options, the environment (SVC_API_URL, SVC_PROJECT,
SVC_API_KEY) or the profile that \`svc login\` keeps.

Exit codes: 0 done, 1 refused, 2 not understood, 3 no valid key, 4 not reached, 130 interrupted`;

/** The commands and their options. What they do is loaded when it is asked for. */
export function createProgram(): Command {
  const program = new Command('svc')
    .description('The command line of svc, for those who build on it and for those who run it.')
    .version(manifest.version, '-V, --version', 'the version of svc')
    .addHelpText('after', operators)
    .exitOverride()
    .showHelpAfterError('(svc --help tells the commands)');
  addLogin(program);
  addManifest(program);
  addOperations(program);
  addWrite(program);
  addListen(program);
  return program;
}

/** A command that calls svc. */
function calling(parent: Command, name: string, about: string, example: string): Command {
  return parent
    .command(name)
    .description(about)
    .option('--url <url>', 'the server')
    .option('-p, --project <name>', 'the project, by name or id')
    .option('--profile <name>', 'the profile that svc login kept (SVC_PROFILE)')
    .option('--json', 'say the result as JSON, and what failed as JSON on the error output')
    .addHelpText('after', `\nExample:\n  ${example}`);
}

function addLogin(program: Command): void {
  calling(
    program,
    'login',
    'keep an API key, which is asked for or piped in, with its server and project',
    'svc login --url https://svc.example.com --project mailmonkey < key.txt',
  ).action(async (options: ConnectionOptions) => (await import('./login.ts')).login(options));
  calling(program, 'logout', 'forget a profile', 'svc logout --profile staging').action(
    async (options: ConnectionOptions) => (await import('./login.ts')).logout(options),
  );
}

function addManifest(program: Command): void {
  program
    .command('validate')
    .description('show every fault of a manifest; asks no server')
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--json', 'say the faults as JSON')
    .addHelpText('after', '\nExample:\n  svc validate svc.yaml')
    .action(async (path: string, options: object) => (await import('./validate.ts')).validate(path, options));
  program
    .command('types')
    .description(
      'TypeScript types of the objects and fields that a manifest declares, for `new Svc<Integrations>(…)`',
    )
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('-o, --out <file>', 'write there instead of to the terminal')
    .addHelpText('after', '\nExample:\n  svc types svc.yaml --out src/integrations.ts')
    .action(async (path: string, options: object) => (await import('./types/types.ts')).types(path, options));
  calling(program, 'deploy', 'deploy a manifest', 'svc deploy svc.yaml --dry-run')
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--destructive', 'end what the manifest no longer holds, for the installations that have it')
    .option('-y, --yes', 'do not ask before that')
    .action(async (path: string, options: object) => (await import('./deploy.ts')).deploy(path, options));
}

function addOperations(program: Command): void {
  const operations = program.command('operations').description('look at what was done, and wait for it');
  calling(
    operations,
    'list',
    'the operations of an installation, newest first',
    'svc operations list --integration hubspot-crm --installation 0192f0c1-…',
  )
    .requiredOption('-i, --integration <name>', 'the integration, by name or id')
    .requiredOption('--installation <id>', 'the installation')
    .option('-n, --limit <count>', 'how many at the most', whole(1, 1_000_000), 20)
    .action(async (options) => (await import('./operations.ts')).listOperations(options));
  calling(operations, 'get', 'an operation', 'svc operations get 0192f0c1-…')
    .argument('<operation>', 'its id')
    .action(async (id: string, options: object) =>
      (await import('./operations.ts')).getOperation(id, options),
    );
  calling(
    operations,
    'watch',
    'wait until an operation has ended; the exit code is 1 when it failed',
    'svc operations watch 0192f0c1-… --timeout 60',
  )
    .argument('<operation>', 'its id')
    .option('--timeout <seconds>', 'how long to wait at the most', whole(1, 1_000_000))
    .action(async (id: string, options: object) =>
      (await import('./operations.ts')).watchOperation(id, options),
    );
}

const writeExamples = `svc write hubspot-crm contacts --group acme --data '{"email":"ada@example.com"}'
  svc write hubspot-crm contacts --group acme --mode asynchronous --file contacts.ndjson

Each line of a file, or of what is piped in, is one record. The same file can be sent again, as
after Ctrl+C: a line that was done is not done twice within 7 days, unless --run has another name.`;

function addWrite(program: Command): void {
  calling(program, 'write', 'create, update or delete records', writeExamples)
    .argument('<integration>', 'its name or id')
    .argument('<object>', 'as the manifest names it')
    .requiredOption('-g, --group <ref>', 'the group whose account is written to')
    .addOption(new Option('-t, --type <type>').choices(['create', 'update', 'delete']).default('create'))
    .addOption(
      new Option('-m, --mode <mode>').choices(['synchronous', 'asynchronous']).default('synchronous'),
    )
    .option('-d, --data <json>', 'one record')
    .option('-f, --file <file>', 'records, one JSON object a line')
    .option('--dry-run', 'with --data: say what would be sent')
    .option('--idempotency-key <key>', 'with --data: stands for this write')
    .option('--run <name>', 'writes the lines again that were written under another name')
    .option('--concurrency <count>', 'how many lines at once', whole(1, 100), 8)
    .action(async (integration: string, object: string, options: WriteOptions) =>
      (await import('./write/write.ts')).write(integration, object, options),
    );
}

function addListen(program: Command): void {
  program
    .command('listen')
    .description('print what is delivered to this machine, and pass it on')
    .option('--port <port>', 'where to listen, on 127.0.0.1', whole(1, 65_535), 4400)
    .option('--forward-to <url>', 'where to pass it on; its answer is the answer')
    .option('--json', 'print each delivery whole, as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc listen --forward-to http://127.0.0.1:3000/hooks\n\nSVC_SIGNING_KEY, the key of the destination, makes it check signatures.',
    )
    .action(async (options) => (await import('./listen.ts')).listen(options));
}

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}
