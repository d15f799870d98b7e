import { Option, type Command } from 'commander';
import { readStatuses } from '../../actions/read/words-schema.ts';
import { calling, filled, listing, named, several, uuid } from './command.ts';

/** The customers of a builder: what is connected and installed for them. */
export function declareCustomers(program: Command): void {
  declareConnections(program.command('connections').description('the accounts that customers connected'));
  declareInstallations(program.command('installations').description('which customer has which integration'));
  declareReads(program.command('reads').description('how each object of each customer is read'));
}

function declareConnections(connections: Command): void {
  listing(connections, 'list', 'the connections, newest first', 'svc connections list --provider hubspot')
    .option('--provider <name>', 'those to that provider', named)
    .option('-g, --group <ref>', 'those of that group', filled)
    .action(async (options) => (await import('../connections.ts')).listConnections(options));
  calling(connections, 'get', 'a connection, without its credentials', 'svc connections get 0192f0c1-…')
    .argument('<connection>', 'its id', named)
    .action(async (id: string, options: object) =>
      (await import('../connections.ts')).getConnection(id, options),
    );
  calling(
    connections,
    'connect',
    'the link that a customer opens to connect an account',
    'svc connections connect hubspot --group acme',
  )
    .argument('<provider>', 'such as hubspot', named)
    .requiredOption('-g, --group <ref>', 'the customer', filled)
    .option('-c, --consumer <ref>', 'the person there; the group unless told', filled)
    .option(
      '-w, --workspace <ref>',
      'the account, where the provider asks for it, such as a subdomain',
      filled,
    )
    .action(async (provider: string, options) =>
      (await import('../connections.ts')).connectAccount(provider, options),
    );
  calling(
    connections,
    'reconnect',
    'the link that connects the account of a connection again, as after bad credentials',
    'svc connections reconnect 0192f0c1-…',
  )
    .argument('<connection>', 'its id', named)
    .action(async (id: string, options: object) =>
      (await import('../connections.ts')).reconnect(id, options),
    );
}

function declareInstallations(installations: Command): void {
  listing(
    installations,
    'list',
    'the installations, newest first',
    'svc installations list --integration hubspot-crm',
  )
    .option('-i, --integration <name>', 'those of that integration, by name or id', named)
    .option('-g, --group <ref>', 'those of that group', filled)
    .action(async (options) => (await import('../installations.ts')).listInstallations(options));
  calling(
    installations,
    'get',
    'an installation, with its config',
    'svc installations get 0192f0c1-… --integration hubspot-crm',
  )
    .argument('<installation>', 'its id', named)
    .requiredOption('-i, --integration <name>', 'its integration, by name or id', named)
    .action(async (id: string, options) =>
      (await import('../installations.ts')).getInstallation(id, options),
    );
  listing(
    installations,
    'reads',
    'what is read for an installation, and when next',
    'svc installations reads 0192f0c1-… --integration hubspot-crm',
  )
    .argument('<installation>', 'its id', named)
    .requiredOption('-i, --integration <name>', 'its integration, by name or id', named)
    .action(async (id: string, options) => (await import('../installations.ts')).listReads(id, options));
  calling(
    installations,
    'create',
    'install an integration for a group that is connected',
    'svc installations create hubspot-crm --group acme',
  )
    .argument('<integration>', 'its name or id', named)
    .requiredOption('-g, --group <ref>', 'the customer', filled)
    .option('--config <file>', 'the content of the config, as JSON')
    .action(async (integration: string, options) =>
      (await import('../installations.ts')).createInstallation(integration, options),
    );
  calling(
    installations,
    'update',
    'change the config of an installation, or the connection that it uses',
    'svc installations update 0192f0c1-… -i hubspot-crm --config config.json',
    'svc installations update 0192f0c1-… -i hubspot-crm --config config.json --part read.objects.contacts',
  )
    .argument('<installation>', 'its id', named)
    .requiredOption('-i, --integration <name>', 'its integration, by name or id', named)
    .option('--config <file>', 'the content of the config, as JSON; replaces all of it unless --part is told')
    .option('--part <path>', 'what of the content is replaced; may be given several times', several)
    .option('--connection <id>', 'the connection of the same group that it uses from now on', named)
    .action(async (id: string, options) =>
      (await import('../installations.ts')).updateInstallation(id, options),
    );
}

function declareReads(reads: Command): void {
  listing(
    reads,
    'list',
    'how objects are read, with their last runs, by installation',
    'svc reads list --status failing',
  )
    .addOption(new Option('--status <status>', 'those that are').choices(readStatuses))
    .option('--object <name>', "of that object, by the provider's name", filled)
    .option('-g, --group <ref>', 'of that group', filled)
    .option('--installation <id>', 'of that installation', uuid)
    .action(async (options) => (await import('../reads.ts')).findReads(options));
}
