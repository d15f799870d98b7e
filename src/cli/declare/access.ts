import { Option, type Command } from 'commander';
import type { ConnectionOptions } from '../connection.ts';
import { calling, filled, inOrder, listing, named, several, time } from './command.ts';

/** Who calls svc. */
export function declareAccess(program: Command): void {
  calling(
    program,
    'login',
    'keep an API key, which is asked for or piped in, with its server and project',
    'svc login --url https://svc.example.com --project mailmonkey < key.txt',
  ).action(async (options: ConnectionOptions) => (await import('../login.ts')).login(options));
  calling(program, 'logout', 'forget a profile', 'svc logout --profile staging').action(
    async (options: ConnectionOptions) => (await import('../login.ts')).logout(options),
  );
  calling(
    program,
    'doctor',
    'whether the server is there and takes work, and what the key may do; svc server doctor looks at the server itself',
    'svc doctor --profile staging',
  ).action(async (options: ConnectionOptions) => (await import('../doctor.ts')).doctor(options));
  calling(
    program,
    'mcp',
    'let a model look at the project, by the Model Context Protocol on the input and output of the process',
    'svc mcp --profile staging',
    'claude mcp add svc -- svc mcp',
  )
    .option('--allow-writes', 'let it write records, too')
    .option('--proxy-url <url>', 'where the proxy is (SVC_PROXY_URL); the port after the one of the server')
    .action(async (options: object) => (await import('../mcp/mcp.ts')).mcp(options));
  declareAudit(program.command('audit').description('who changed what of the project'));
  declareKeys(program.command('keys').description('the API keys of the project'));
}

function declareAudit(audit: Command): void {
  within(
    listing(
      audit,
      'list',
      'changes and disclosures of credentials, newest first',
      'svc audit list --action connection.disclosed --from 2026-11-22',
    )
      .option('--action <action>', 'of this kind, such as destination.updated')
      .option('-g, --group <ref>', 'done by this group, or to it', filled),
  ).action(async (options) => (await import('../audit.ts')).listAudit(options));
  within(
    calling(
      audit,
      'export',
      'the whole log, or of a time, as a new file or on the output',
      'svc audit export audit-log.csv --from 2026-01-01',
      'svc audit export | gzip > audit-log.ndjson.gz',
    )
      .argument('[file]', 'a new file; the output unless named')
      .addOption(
        new Option('--format <format>', 'csv for a file of that ending, else ndjson').choices([
          'ndjson',
          'csv',
        ]),
      ),
  ).action(async (path: string | undefined, options) =>
    (await import('../audit.ts')).exportAudit(path, options),
  );
}

function within(entries: Command): Command {
  entries
    .option('--from <time>', 'at this time or later', time)
    .option('--to <time>', 'before this time', time);
  return inOrder(entries, 'from', 'to');
}

function declareKeys(keys: Command): void {
  listing(keys, 'list', 'the keys, without their secret part', 'svc keys list').action(async (options) =>
    (await import('../keys.ts')).listKeys(options),
  );
  calling(
    keys,
    'create',
    'make a key and say it, which happens only once',
    'svc keys create --label backend --scope write --scope read > key.txt',
  )
    .requiredOption('-l, --label <text>', 'what it is for', filled)
    .addOption(
      new Option('-s, --scope <scope>', 'what it may do; full unless told').argParser(
        (text, before?: string[]) => several(text, before),
      ),
    )
    .option('-g, --group <ref>', 'for what belongs to that group alone', filled)
    .option('--expires <time>', 'until when', time)
    .action(async (options) => (await import('../keys.ts')).createKey(options));
  calling(keys, 'disable', 'let nobody in by a key, for the time being', 'svc keys disable 0192f0c1-…')
    .argument('<key>', 'its id', named)
    .option('-y, --yes', 'do not ask before the key of the command itself is disabled')
    .action(async (id: string, options: object) => (await import('../keys.ts')).disableKey(id, options));
  calling(
    keys,
    'enable',
    'let a disabled key in again, and with --expires one that expired',
    'svc keys enable 0192f0c1-…',
  )
    .argument('<key>', 'its id', named)
    .option('--expires <time>', 'until when, from now on', time)
    .action(async (id: string, options: { expires?: string }) =>
      (await import('../keys.ts')).setKeyActive(id, true, options),
    );
  calling(keys, 'delete', 'delete a key', 'svc keys delete 0192f0c1-… --yes')
    .argument('<key>', 'its id', named)
    .option('-y, --yes', 'do not ask before that')
    .action(async (id: string, options: object) => (await import('../keys.ts')).deleteKey(id, options));
}
