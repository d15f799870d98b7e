import type { Command } from 'commander';
import { calling, command, filled, listing, named, several, whole } from './command.ts';

/** What a builder declares, and the providers that there are. */
export function declareManifest(program: Command): void {
  declareBeginning(program);
  command(program, 'validate', 'show every fault of a manifest; asks no server', 'svc validate svc.yaml')
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--json', 'say the faults as JSON')
    .action(async (path: string, options: object) =>
      (await import('../validate.ts')).validate(path, options),
    );
  command(
    program,
    'types',
    'TypeScript types of the objects and fields that a manifest declares, for `new Svc<Integrations>(…)`',
    'svc types svc.yaml --out src/integrations.ts',
  )
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('-o, --out <file>', 'write there instead of to the terminal')
    .action(async (path: string, options: object) =>
      (await import('../types/types.ts')).types(path, options),
    );
  calling(
    program,
    'plan',
    'what a deploy changes, and which installations lose or lack something by it; changes nothing',
    'svc plan svc.yaml --destructive',
  )
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--destructive', 'of a deploy that ends what the manifest no longer holds')
    .action(async (path: string, options: object) => (await import('../plan/plan.ts')).plan(path, options));
  calling(program, 'deploy', 'deploy a manifest', 'svc deploy svc.yaml --dry-run')
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--destructive', 'end what the manifest no longer holds, for the installations that have it')
    .option('-y, --yes', 'do not ask before that')
    .action(async (path: string, options: object) => (await import('../deploy.ts')).deploy(path, options));
  declareIntegrations(program.command('integrations').description('what is deployed'));
  declareProviders(program.command('providers').description('the catalogue of providers of the server'));
}

function declareBeginning(program: Command): void {
  command(
    program,
    'init',
    'write a first manifest; asks for provider and objects where they are not told',
    'svc init',
    'svc init --provider hubspot --object contacts --object companies',
  )
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--provider <name>', 'svc providers search tells them', named)
    .option('--object <name>', "the provider's name of it; may be given several times", several)
    .option('--name <name>', 'of the integration; that of the provider unless told')
    .option('--destination <name>', 'where records that are read are sent', named, 'crm-updates')
    .option('--force', 'replace a file that is there')
    .option('--json', 'say what was written as JSON')
    .action(async (path: string, options) => (await import('../init/init.ts')).init(path, options));
  command(
    program,
    'dev',
    'a server, simulated providers, a customer and a receiver on this machine; deploys the manifest whenever it is saved',
    'svc init --provider hubspot --object contacts && svc dev',
  )
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('--port <port>', 'of the server, the next one of its proxy, or free ones', whole(1, 65_534), 4000)
    .option('--receiver-port <port>', 'where deliveries are received', whole(1, 65_535), 4400)
    .option('--data-dir <folder>', 'where the database is kept', '.svc/dev')
    .option('-g, --group <ref>', 'the customer that is connected', filled, 'acme')
    .option('--json', 'say where everything is, and each delivery, as JSON')
    .action(async (path: string, options) => (await import('../dev/dev.ts')).dev(path, options));
}

function declareIntegrations(integrations: Command): void {
  listing(integrations, 'list', 'the integrations of the project', 'svc integrations list').action(
    async (options) => (await import('../integrations.ts')).listIntegrations(options),
  );
  calling(
    integrations,
    'get',
    'an integration, with what its newest revision declares',
    'svc integrations get hubspot-crm',
  )
    .argument('<integration>', 'its name or id', named)
    .action(async (name: string, options: object) =>
      (await import('../integrations.ts')).getIntegration(name, options),
    );
  calling(
    integrations,
    'delete',
    'delete an integration with all its installations, which it names and asks for',
    'svc integrations delete hubspot-crm --yes',
  )
    .argument('<integration>', 'its name or id', named)
    .option('-y, --yes', 'do not ask before that')
    .action(async (name: string, options: object) =>
      (await import('../integrations.ts')).deleteIntegration(name, options),
    );
}

function declareProviders(providers: Command): void {
  listing(
    providers,
    'search',
    'the providers whose names and labels have all the words',
    'svc providers search hub',
    'svc providers search crm oauth2 --limit 100',
  )
    .argument('[words...]', 'none for all')
    .action(async (words: string[], options) =>
      (await import('../providers.ts')).searchProviders(words, options),
    );
  calling(providers, 'get', 'all that is known of a provider', 'svc providers get hubspot')
    .argument('<provider>', 'its name', named)
    .action(async (name: string, options: object) =>
      (await import('../providers.ts')).getProvider(name, options),
    );
}
