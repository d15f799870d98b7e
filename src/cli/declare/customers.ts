import { Option, type Command } from 'commander';
import { readStatuses } from '../../actions/read/words-schema.ts';
import { connectionStatuses } from '../../connections/words-schema.ts';
import { healthStatuses } from '../../installations/words-schema.ts';
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
    .addOption(new Option('--status <status>', 'those that are').choices(connectionStatuses))
    .action(async (options) => (await import('../connections.ts')).listConnections(options));
  calling(connections, 'get', 'a connection, without its credentials', 'svc connections get 0192f0c1-…')
    .argument('<connection>', 'its id', named)
    .action(async (id: string, options: object) =>
      (await import('../connections.ts')).getConnection(id, options),
    );
  ofAccount(
    calling(
      connections,
      'connect',
      'the link that a customer opens to connect an account',
      'svc connections connect hubspot --group acme',
    ),
  ).action(async (provider: string, options) =>
    (await import('../connections.ts')).connectAccount(provider, options),
  );
  ofAccount(
    calling(
      connections,
      'generate',
      'connect an account with credentials at hand, such as an API key or tokens that another system holds',
      'svc connections generate iterable --group acme --credentials @credentials.json',
    ),
  )
    .requiredOption(
      '--credentials <json>',
      `such as '{"apiKey":"…"}', with what else the provider asks for; @file, or - for what is piped in`,
    )
    .action(async (provider: string, options) =>
      (await import('../connections.ts')).generateConnection(provider, options),
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
  calling(
    connections,
    'delete',
    'delete a connection; its authorization is ended at the provider where that is possible',
    'svc connections delete 0192f0c1-…',
  )
    .argument('<connection>', 'its id', named)
    .option('-y, --yes', 'do not ask before that')
    .action(async (id: string, options: object) =>
      (await import('../connections.ts')).deleteConnection(id, options),
    );
}

/** Whose account is connected. */
function ofAccount(connecting: Command): Command {
  return connecting
    .argument('<provider>', 'such as hubspot', named)
    .requiredOption('-g, --group <ref>', 'the customer', filled)
    .option('-c, --consumer <ref>', 'the person there; the group unless told', filled)
    .option(
      '-w, --workspace <ref>',
      'the account, where the provider asks for it, such as a subdomain',
      filled,
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
    .addOption(new Option('--health <health>', 'those that are').choices(healthStatuses))
    .action(async (options) => (await import('../installations.ts')).listInstallations(options));
  ofOne(
    calling(
      installations,
      'get',
      'an installation, with its config',
      'svc installations get 0192f0c1-… --integration hubspot-crm',
    ),
  ).action(async (id: string, options) => (await import('../installations.ts')).getInstallation(id, options));
  ofOne(
    listing(
      installations,
      'reads',
      'what is read for an installation, and when next',
      'svc installations reads 0192f0c1-… --integration hubspot-crm',
    ),
  ).action(async (id: string, options) => (await import('../installations.ts')).listReads(id, options));
  changeInstallations(installations);
}

function changeInstallations(installations: Command): void {
  calling(
    installations,
    'create',
    'install an integration for a group that is connected',
    'svc installations create hubspot-crm --group acme',
  )
    .argument('<integration>', 'its name or id', named)
    .requiredOption('-g, --group <ref>', 'the customer', filled)
    .option(
      '--config <file>',
      `the content of the config, as JSON; all that the integration declares unless told, nothing with '{"provider":"hubspot"}'`,
    )
    .action(async (integration: string, options) =>
      (await import('../installations.ts')).createInstallation(integration, options),
    );
  ofOne(
    calling(
      installations,
      'update',
      'change the config of an installation, or the connection that it uses',
      'svc installations update 0192f0c1-… -i hubspot-crm --config config.json',
      'svc installations update 0192f0c1-… -i hubspot-crm --config config.json --part read.objects.contacts',
      `svc installations update 0192f0c1-… -i hubspot-crm --part write.objects.contacts.deletionSettings --config '{"enabled":true}'`,
    ),
  )
    .option('--config <file>', 'the content of the config, as JSON; replaces all of it unless --part is told')
    .option(
      '--part <path>',
      'what of the content is replaced; given once, --config may be its value alone',
      several,
    )
    .option('--connection <id>', 'the connection of the same group that it uses from now on', named)
    .action(async (id: string, options) =>
      (await import('../installations.ts')).updateInstallation(id, options),
    );
  ofOne(
    calling(
      installations,
      'delete',
      'delete an installation; two seconds later nothing is read and written for it any more, by any node, and its connection goes, too, where nothing else uses it',
      'svc installations delete 0192f0c1-… --integration hubspot-crm',
    ),
  )
    .option('-y, --yes', 'do not ask before that')
    .action(async (id: string, options) =>
      (await import('../installations.ts')).deleteInstallation(id, options),
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
  ofReads(
    calling(
      reads,
      'pause',
      'stop the schedule of what is read for an installation, until it is unpaused',
      "svc reads pause 0192f0c1-… -i hubspot-crm --object contacts --note 'asked for by acme'",
    ),
  )
    .option('--note <text>', 'why; it is shown with the pause', filled)
    .action(async (id: string, options) =>
      (await import('../reads.ts')).setReadsPaused(id, 'pause', options),
    );
  ofReads(
    calling(reads, 'unpause', 'let it go on where it stopped', 'svc reads unpause 0192f0c1-… -i hubspot-crm'),
  ).action(async (id: string, options) =>
    (await import('../reads.ts')).setReadsPaused(id, 'unpause', options),
  );
}

/** What is read for an installation, or a part of it. */
function ofReads(pausing: Command): Command {
  return ofOne(pausing).option('--object <name>', 'only this object; may be given several times', several);
}

/** Which installation is meant. */
function ofOne(asked: Command): Command {
  return asked
    .argument('<installation>', 'its id', named)
    .requiredOption('-i, --integration <name>', 'its integration, by name or id', named);
}
