/** `svc`: the server for the operator's words, otherwise a builder's command. Only what is asked for is loaded. */
import { isOperators } from './operator-words.ts';

await (isOperators(process.argv.slice(2)) ? import('../main.ts') : import('./run.ts'));
