import { Option, type Command } from 'commander';
import { deliveryStatuses } from '../../deliveries/words-schema.ts';
import { calling, command, filled, inOrder, listing, named, time, uuid, whole } from './command.ts';

/** Where things are sent, and what became of it. */
export function declareDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('what was sent to your destinations');
  declareSent(deliveries);
  declareReplays(deliveries);
  const destinations = program.command('destinations').description('where svc sends to');
  declareDestinations(destinations);
  declareUpkeep(destinations);
  declareNotifications(program.command('notifications').description('which events are told where'));
  declareListen(program);
}

function filtered(made: Command): Command {
  made
    .option('--destination <name>', 'to that destination, by name or id', named)
    .addOption(new Option('--status <status>', 'with that outcome').choices(deliveryStatuses))
    .option('--object <name>', 'with records of that object', filled)
    .option('-g, --group <ref>', 'of that group', filled)
    .option('--installation <id>', 'of that installation', uuid)
    .option('--from <time>', 'made since then', time)
    .option('--to <time>', 'made before then', time);
  return inOrder(made, 'from', 'to');
}

function declareSent(deliveries: Command): void {
  filtered(
    listing(deliveries, 'list', 'the deliveries, newest first', 'svc deliveries list --status failed'),
  ).action(async (options) => (await import('../deliveries.ts')).listDeliveries(options));
  calling(deliveries, 'get', 'a delivery with its attempts', 'svc deliveries get 0192f0c1-… --body')
    .argument('<delivery>', 'its id, which is the webhook-id', named)
    .option('--body', 'with what was sent')
    .action(async (id: string, options: object) =>
      (await import('../deliveries.ts')).getDelivery(id, options),
    );
  calling(deliveries, 'retry', 'send a delivery again', 'svc deliveries retry 0192f0c1-…')
    .argument('<delivery>', 'its id', named)
    .action(async (id: string, options: object) =>
      (await import('../deliveries.ts')).retryDelivery(id, options),
    );
}

function declareReplays(deliveries: Command): void {
  filtered(
    calling(
      deliveries,
      'replay',
      'send again whatever fits, behind what is new',
      'svc deliveries replay --destination crm-updates --status failed --dry-run',
    ),
  )
    .option('--into <name>', 'into another destination', named)
    .option('--dry-run', 'count, and send nothing')
    .option('-y, --yes', 'do not ask before that')
    .action(async (options) => (await import('../deliveries.ts')).replayDeliveries(options));
  listing(deliveries, 'replays', 'the replays and how far they are', 'svc deliveries replays').action(
    async (options) => (await import('../deliveries.ts')).listReplays(options),
  );
  calling(
    deliveries,
    'cancel-replay',
    'end a replay; what it queued and was not sent yet is taken back',
    'svc deliveries cancel-replay 0192f0c1-…',
  )
    .argument('<replay>', 'its id', named)
    .action(async (id: string, options: object) =>
      (await import('../deliveries.ts')).cancelReplay(id, options),
    );
}

const nameOrId = 'its name or id';

function declareDestinations(destinations: Command): void {
  listing(destinations, 'list', 'the destinations of the project', 'svc destinations list').action(
    async (options) => (await import('../destinations.ts')).listDestinations(options),
  );
  calling(destinations, 'get', 'a destination', 'svc destinations get crm-updates --secrets')
    .argument('<destination>', nameOrId, named)
    .option('--secrets', 'with its secrets, which is written to the audit log')
    .action(async (name: string, options: object) =>
      (await import('../destinations.ts')).getDestination(name, options),
    );
  calling(
    destinations,
    'create',
    'make a destination',
    'svc destinations create crm-updates --address https://app.example.com/hooks',
    `svc destinations create archive --type s3 --metadata '{"bucket":"b","region":"eu-central-1"}' --secrets @s3.json`,
  )
    .argument('<name>', 'as the manifest names it', filled)
    .addOption(
      new Option('-t, --type <type>')
        .choices(['webhook', 'postgres', 's3', 'amqp', 'slack', 'file'])
        .default('webhook'),
    )
    .option('-a, --address <url>', 'the URL of it, where its type has one')
    .option('--metadata <json>', 'whatever else its type takes; @file, or - for what is piped in')
    .option('--secrets <json>', 'what svc shows there; @file, or -')
    .action(async (name: string, options) =>
      (await import('../destinations.ts')).createDestination(name, options),
    );
  calling(
    destinations,
    'update',
    'change a destination: what is given; null takes a member away',
    'svc destinations update crm-updates --address https://app.example.com/new-hooks',
    `svc destinations update archive --metadata '{"keyTemplate":null}' --secrets @s3.json`,
  )
    .argument('<destination>', nameOrId, named)
    .option('--name <name>', 'its new name, which the manifest must have, too', filled)
    .option('-a, --address <url>', 'the URL of it, where its type has one')
    .option('--metadata <json>', 'members of it to change; @file, or - for what is piped in')
    .option('--secrets <json>', 'members of them to change; @file, or -')
    .action(async (name: string, options: object) =>
      (await import('../destinations.ts')).updateDestination(name, options),
    );
  calling(
    destinations,
    'test',
    'send a message without records; the exit code is 1 when it did not arrive',
    'svc destinations test crm-updates',
  )
    .argument('<destination>', nameOrId, named)
    .action(async (name: string, options: object) =>
      (await import('../destinations.ts')).testDestination(name, options),
    );
}

function declareUpkeep(destinations: Command): void {
  for (const [verb, about] of [
    ['enable', 'send to a destination again'],
    ['disable', 'send nothing to a destination until it is enabled'],
  ] as const)
    calling(destinations, verb, about, `svc destinations ${verb} crm-updates`)
      .argument('<destination>', nameOrId, named)
      .action(async (name: string, options: object) =>
        (await import('../destinations.ts')).setDestinationActive(name, verb, options),
      );
  calling(
    destinations,
    'rotate',
    'make a new signing key; the one of before signs beside it for a time',
    'svc destinations rotate crm-updates --overlap 48',
  )
    .argument('<destination>', nameOrId, named)
    .option('--overlap <hours>', 'for how long both sign', whole(0, 168), 24)
    .action(async (name: string, options) =>
      (await import('../destinations.ts')).rotateDestination(name, options),
    );
  calling(destinations, 'delete', 'delete a destination', 'svc destinations delete crm-updates --yes')
    .argument('<destination>', nameOrId, named)
    .option('--cancel-pending', 'do not deliver what is queued for it')
    .option('-y, --yes', 'do not ask before that')
    .action(async (name: string, options: object) =>
      (await import('../destinations.ts')).deleteDestination(name, options),
    );
}

function declareNotifications(notifications: Command): void {
  listing(notifications, 'list', 'which event is told where', 'svc notifications list').action(
    async (options) => (await import('../notifications.ts')).listNotifications(options),
  );
  for (const [verb, about] of [
    ['add', 'tell events to a destination'],
    ['remove', 'tell events to a destination no more'],
  ] as const)
    listing(notifications, verb, about, `svc notifications ${verb} ops-alerts connection.error`)
      .argument('<destination>', 'by its name', named)
      .argument('<events...>', 'docs/guides/notifications.md has them')
      .action(async (destination: string, events, options) =>
        (await import('../notifications.ts'))[`${verb}Notification`](destination, events, options),
      );
}

function declareListen(program: Command): void {
  command(
    program,
    'listen',
    'print what is delivered to this machine, and pass it on',
    'svc listen --forward-to http://127.0.0.1:3000/hooks',
  )
    .option('--port <port>', 'where to listen, on 127.0.0.1', whole(1, 65_535), 4400)
    .option('--forward-to <url>', 'where to pass it on; its answer is the answer')
    .option('--json', 'print each delivery whole, as JSON')
    .addHelpText('after', '\nSVC_SIGNING_KEY, the key of the destination, makes it check signatures.')
    .action(async (options) => (await import('../listen.ts')).listen(options));
}
