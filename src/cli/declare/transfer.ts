import { Option, type Command } from 'commander';
import { calling } from './command.ts';

/** Taking a project from one server to another. */
export function declareTransfer(program: Command): void {
  calling(
    program,
    'export',
    'make a file of the project with its connections; a passphrase, which is asked for or piped in, seals it',
    'svc export project.svc --move',
    'svc export project.svc --yes --move < passphrase.txt',
    'svc export --undo',
  )
    .argument('[file]', 'a new file', 'project.svc')
    .option(
      '--move',
      'use the connections no more on this server, so that only the other one renews their tokens',
    )
    .addOption(
      new Option(
        '--undo',
        'use the connections here again that an export moved, and that no other server is to use; makes no file',
      ).conflicts('move'),
    )
    .option('-y, --yes', 'do not ask before --move')
    .action(async (path: string, options: object) =>
      (await import('../transfer.ts')).exportProject(path, options),
    );
  calling(
    program,
    'import',
    'take an exported project into this one, whole or not at all; the passphrase is asked for or piped in',
    'svc import project.svc --profile new --dry-run',
    'svc import project.svc --profile new < passphrase.txt',
  )
    .argument('<file>', 'what svc export made')
    .option('--dry-run', 'say what would come in, and change nothing')
    .action(async (path: string, options: object) =>
      (await import('../transfer.ts')).importProject(path, options),
    );
}
