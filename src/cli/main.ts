/** `svc`: the server for the operator's words, otherwise a builder's command. Only what is asked for is loaded. */
import * as nodeModule from 'node:module';
import manifest from '../../package.json' with { type: 'json' };
import { isOperators, operatorHelp } from './operator-words.ts';

const words = process.argv.slice(2);
const help = operatorHelp(words);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  process.stdout.write(`${manifest.version}\n`);
} else if (help !== undefined) {
  process.stdout.write(help);
} else {
  // From Node 22 on, what was compiled is kept for the next time.
  nodeModule.enableCompileCache?.();
  if (isOperators(words)) void import('../main.ts');
  else void import('./run.ts').then(({ run }) => run());
}
