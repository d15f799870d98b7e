import { parseArgs } from 'node:util';
import { ConfigError } from './config-error.ts';

const roles = [
  'all',
  'api',
  'worker',
  'migrate',
  'doctor',
  'master-keys rotate',
  'operator-keys create',
  'people invite',
  'people reset',
  'restore hold',
  'restore resume',
] as const;

/** What the process was started as. */
export interface Command {
  role: (typeof roles)[number];
  /** Of `operator-keys create`. */
  label: string;
  project?: string;
  /** Of `people`. */
  email?: string;
  /** Of `restore resume`: the database was moved, not restored. */
  nothingLost: boolean;
  /** Of `migrate`: say what is to be done, and do nothing. */
  plan: boolean;
  /** Of `doctor` and `migrate --plan`. */
  json: boolean;
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
  refuseForeign(role, values);
  if (role === 'people invite' && !values.owner)
    throw new ConfigError([
      'people invite makes an owner of every project and operator: say so with --owner',
    ]);
  if (role === 'people reset' && !values.email)
    throw new ConfigError(['people reset needs the --email of the person']);
  const { label = 'made on the server', project, email, plan = false, json = false } = values;
  if (role === 'migrate' && json && !plan) throw new ConfigError(['migrate takes --json with --plan only']);
  const nothingLost = values['nothing-lost'] ?? false;
  const named = {
    ...(project === undefined ? {} : { project }),
    ...(email === undefined ? {} : { email }),
  };
  return { role, label, nothingLost, plan, json, ...named };
}

/** The roles that take an option. */
const ownersOf = {
  full: ['operator-keys create'],
  label: ['operator-keys create'],
  project: ['operator-keys create'],
  owner: ['people invite'],
  email: ['people invite', 'people reset'],
  'nothing-lost': ['restore resume'],
  plan: ['migrate'],
  json: ['migrate', 'doctor'],
} as const satisfies Record<string, readonly Command['role'][]>;

function refuseForeign(role: Command['role'], values: Partial<Record<keyof typeof ownersOf, unknown>>): void {
  for (const name of Object.keys(values) as (keyof typeof ownersOf)[]) {
    const owners: readonly Command['role'][] = ownersOf[name];
    if (!owners.includes(role))
      throw new ConfigError([`${role} does not take --${name}; it belongs to ${owners.join(' and ')}`]);
  }
}

function parsed(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        full: { type: 'boolean' },
        label: { type: 'string' },
        project: { type: 'string' },
        owner: { type: 'boolean' },
        email: { type: 'string' },
        'nothing-lost': { type: 'boolean' },
        plan: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    });
    return { words: positionals, values };
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}
