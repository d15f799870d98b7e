import { parseArgs } from 'node:util';
import { ConfigError } from './config-error.ts';

const roles = ['all', 'api', 'worker', 'migrate', 'master-keys rotate', 'operator-keys create'] as const;

/** What the process was started as. */
export interface Command {
  role: (typeof roles)[number];
  /** Of `operator-keys create`. */
  label: string;
  project?: string;
}

/** Reads the words after the program's name. Throws a ConfigError that names the roles. */
export function readCommand(args: readonly string[]): Command {
  const { words, values } = parsed(args);
  const [first, ...others] = words;
  const asked = (first === 'server' ? others : words).join(' ') || 'all';
  const role = roles.find((each) => each === asked);
  if (!role) throw new ConfigError([`"${asked}" is not a role; use one of ${roles.join(', ')}`]);
  if (role === 'operator-keys create' && !values.full)
    throw new ConfigError(['operator-keys create makes keys with all rights: say so with --full']);
  if (role !== 'operator-keys create' && Object.keys(values).length > 0)
    throw new ConfigError([
      `${role} takes no options; --full, --label and --project belong to operator-keys create`,
    ]);
  const { label = 'made on the server', project } = values;
  return { role, label, ...(project === undefined ? {} : { project }) };
}

function parsed(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { full: { type: 'boolean' }, label: { type: 'string' }, project: { type: 'string' } },
    });
    return { words: positionals, values };
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}
