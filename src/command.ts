import { parseArgs } from 'node:util';
import { ConfigError } from './config-error.ts';

const roles = [
  'all',
  'api',
  'worker',
  'migrate',
  'master-keys rotate',
  'operator-keys create',
  'restore hold',
  'restore resume',
] as const;

/** What the process was started as. */
export interface Command {
  role: (typeof roles)[number];
  /** Of `operator-keys create`. */
  label: string;
  project?: string;
  /** Of `restore resume`: the database was moved, not restored. */
  nothingLost: boolean;
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
  const foreign = Object.keys(values).filter((name) => ownersOf[name as keyof typeof values] !== role);
  if (foreign.length > 0)
    throw new ConfigError([
      `${role} does not take --${foreign[0]}; it belongs to ${ownersOf[foreign[0] as keyof typeof values]}`,
    ]);
  const { label = 'made on the server', project, 'nothing-lost': nothingLost = false } = values;
  return { role, label, nothingLost, ...(project === undefined ? {} : { project }) };
}

const ownersOf = {
  full: 'operator-keys create',
  label: 'operator-keys create',
  project: 'operator-keys create',
  'nothing-lost': 'restore resume',
} as const satisfies Record<string, Command['role']>;

function parsed(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        full: { type: 'boolean' },
        label: { type: 'string' },
        project: { type: 'string' },
        'nothing-lost': { type: 'boolean' },
      },
    });
    return { words: positionals, values };
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}
