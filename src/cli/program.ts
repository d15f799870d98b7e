import { Command } from 'commander';

const operators = `
Commands of the operator:
  all | api | worker   start svc, whole or in part; without a command it starts whole
  migrate              bring the database to this release
  keys rotate          rewrap what is sealed with the newest master key
  keys create --full   make an API key with all rights
`;

/** The commands and their options. What they do is loaded when it is asked for. */
export function createProgram(): Command {
  const program = new Command('svc')
    .description('The command line of svc, for those who build on it and for those who run it.')
    .addHelpText('after', operators)
    .exitOverride()
    .showHelpAfterError('(svc --help tells the commands)');
  program
    .command('types')
    .description(
      'TypeScript types of the objects and fields that a manifest declares, for `new Svc<Integrations>(…)`',
    )
    .argument('[manifest]', 'the manifest', 'svc.yaml')
    .option('-o, --out <file>', 'write there instead of to the terminal')
    .addHelpText('after', '\nExample:\n  svc types svc.yaml --out src/integrations.ts')
    .action(async (path: string, options: { out?: string }) =>
      (await import('./types/types.ts')).types(path, options),
    );
  return program;
}
