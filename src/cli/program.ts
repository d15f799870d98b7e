import { Argument, type Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Shell } from './completion.ts';
import { declareAccess } from './declare/access.ts';
import { command } from './declare/command.ts';
import { declareCustomers } from './declare/customers.ts';
import { declareDeliveries } from './declare/deliveries.ts';
import { declareManifest } from './declare/manifest.ts';
import { declareProviderApps } from './declare/provider-apps.ts';
import { declareRecords } from './declare/records.ts';
import { declareTransfer } from './declare/transfer.ts';
import { Words } from './misuse.ts';
import { operatorWords } from './operator-words.ts';

const more = `
Of the operator:
${operatorWords.map(({ usage, about }) => `  ${usage.padEnd(28)}  ${about}`).join('\n')}

Server, project and key come from the options, the environment (SVC_API_URL, SVC_PROJECT,
SVC_API_KEY) or the profile that \`svc login\` keeps.

Exit codes: 0 done, 1 refused, 2 not understood, 3 no valid key, 4 not reached, 130 interrupted`;

/** The commands and their options: help, completion and `docs/cli.md` derive from here. What they do is loaded when it is asked for. */
export function createProgram(): Command {
  const program = new Words('svc')
    .description('The command line of svc, for those who build on it and for those who run it.')
    .version(manifest.version, '-V, --version', 'the version of svc')
    .addHelpText('after', more)
    .exitOverride();
  declareManifest(program);
  declareProviderApps(program);
  declareRecords(program);
  declareCustomers(program);
  declareDeliveries(program);
  declareAccess(program);
  declareTransfer(program);
  command(
    program,
    'completion',
    'a script that completes commands and options in a shell',
    'svc completion bash > /etc/bash_completion.d/svc',
    'svc completion zsh > "${fpath[1]}/_svc"',
    'svc completion fish > ~/.config/fish/completions/svc.fish',
  )
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const made = await import('./completion.ts');
      process.stdout.write(made.completion(program, shell));
    });
  return program;
}
