import type { Command } from 'commander';
import { calling, filled, listing, named, several } from './command.ts';

/** The OAuth apps of a builder at the providers. */
export function declareProviderApps(program: Command): void {
  const apps = program.command('provider-apps').description('your OAuth apps at the providers');
  listing(apps, 'list', 'the apps, without their secrets', 'svc provider-apps list').action(async (options) =>
    (await import('../provider-apps.ts')).listProviderApps(options),
  );
  told(
    calling(
      apps,
      'create',
      'tell of an app; its client secret is asked for, or piped in',
      'svc provider-apps create hubspot --client-id 8d4f2c1e --scope oauth --scope crm.objects.contacts.write < secret.txt',
    ).argument('<provider>', 'such as hubspot', named),
  )
    .requiredOption('--client-id <id>', 'as the provider shows it', filled)
    .action(async (provider: string, options) =>
      (await import('../provider-apps.ts')).createProviderApp(provider, options),
    );
  told(
    calling(
      apps,
      'update',
      'change what is told of an app; what is not given stays',
      'svc provider-apps update 0192f0c1-… --new-secret < secret.txt',
    ).argument('<app>', 'its id', named),
  )
    .option('--client-id <id>', 'as the provider shows it', filled)
    .option('--new-secret', 'ask for the client secret, or take it from the pipe')
    .action(async (id: string, options: object) =>
      (await import('../provider-apps.ts')).updateProviderApp(id, options),
    );
  calling(apps, 'delete', 'delete an app', 'svc provider-apps delete 0192f0c1-…')
    .argument('<app>', 'its id', named)
    .option('-y, --yes', 'do not ask before that')
    .action(async (id: string, options: object) =>
      (await import('../provider-apps.ts')).deleteProviderApp(id, options),
    );
}

/** What may be told of an app. */
function told(app: Command): Command {
  return app
    .option('--scope <scope>', 'what it asks customers for; may be given several times', several)
    .option('--external-ref <ref>', "the provider's own id of it", filled)
    .option('--metadata <json>', 'what else the provider asks for; @file, or - for what is piped in')
    .option('--default', 'connections are made with it where none is named');
}
