import type { Command } from 'commander';
import type { Mistake } from './mistake.fixture.ts';

/** A command with the least that it takes. */
export interface Least {
  path: string;
  /** Behind the path. */
  words: readonly string[];
  command: Command;
}

const samples: Readonly<Record<string, string>> = {
  app: '$APP',
  as: 'applied',
  connection: '$CONNECTION',
  credentials: '{}',
  delivery: '$OPERATION',
  destination: 'inbox',
  events: 'connection.error',
  file: 'whole.svc',
  group: 'acme',
  installation: '$INSTALLATION',
  integration: 'hubspot-crm',
  key: '$KEYID',
  label: 'x',
  name: 'new',
  object: 'contacts',
  operation: '$OPERATION',
  path: '/crm/v3/objects/contacts',
  provider: 'hubspot',
  replay: '$OPERATION',
  shell: 'bash',
};

const more: Readonly<Record<string, string>> = {
  write: '--data {}',
  proxy: '-i hubspot-crm -g acme',
  'deliveries replay': '--destination inbox',
  'destinations create': '--address https://example.com/hooks',
  'destinations update': '--address https://example.com/hooks',
  'installations update': '--config object.json',
  'provider-apps update': '--client-id x',
  'operations cancel': '--group nobody',
  'operations retry': '$OPERATION',
};

/** Every command of the program. */
export function leastOf(command: Command, above: readonly string[] = []): Least[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((one) => leastOf(one, [...above, one.name()]));
  const path = above.join(' ');
  const sample = (name: string): string => samples[name] ?? 'x';
  const asks = command.options.some(({ long }) => long === '--yes');
  const words = [
    ...command.registeredArguments.flatMap((one) => (one.required ? [sample(one.name())] : [])),
    ...command.options.flatMap((one) => (one.mandatory ? [one.long ?? '', sample(one.attributeName())] : [])),
    ...(asks ? ['--yes'] : []),
    ...(more[path]?.split(' ') ?? []),
  ];
  return [{ path, words, command }];
}

/** A mistake that every command of a sort may meet; none where it may not. */
export interface Common {
  what: string;
  of: (least: Least) => Mistake | undefined;
}

const hasUrl = ({ command }: Least): boolean => command.options.some(({ long }) => long === '--url');
/** They ask the server for nothing, before they are asked themselves; `doctor` says what it finds. */
const silent = new Set(['doctor', 'logout', 'mcp']);
const asksServer = (least: Least): boolean => hasUrl(least) && !silent.has(least.path);
/** Everybody may see that, and `login` has no key yet. */
const open = new Set(['login', 'providers search', 'providers get']);

function wrong(what: string, change: (least: Least) => string | undefined): Common {
  return {
    what,
    of: (least) => {
      const words = change(least);
      return words === undefined ? undefined : [2, words];
    },
  };
}

/** The words stay; the server, the project or the key are others. */
function elsewhere(
  what: string,
  ends: Mistake[0],
  env: Readonly<Record<string, string>>,
  where: (least: Least) => boolean = asksServer,
  options = '',
): Common {
  return {
    what,
    of: (least) =>
      where(least)
        ? [ends, [...least.words, options].join(' ').trim(), { env, input: '$APIKEY' }]
        : undefined,
  };
}

const needsKey = (least: Least): boolean => asksServer(least) && !open.has(least.path);

const ofWords: Common[] = [
  wrong('an option that is none', ({ words }) => [...words, '--nosuch'].join(' ')),
  wrong('an option without its value', (least) =>
    hasUrl(least) ? [...least.words, '--url'].join(' ') : undefined,
  ),
  wrong('an argument too many', ({ words, command: { registeredArguments } }) =>
    registeredArguments.some(({ variadic }) => variadic)
      ? undefined
      : [
          ...registeredArguments.map(() => 'x'),
          'y',
          ...words.filter((word) => word.startsWith('--yes')),
        ].join(' '),
  ),
  wrong('an argument that is missing', ({ command: { registeredArguments } }) =>
    registeredArguments.some(({ required }) => required) ? '' : undefined,
  ),
  wrong('an argument of no letters', ({ words, command: { registeredArguments } }) =>
    registeredArguments.some(({ required }) => required) ? ['""', ...words.slice(1)].join(' ') : undefined,
  ),
  wrong('a limit in words', ({ words, command }) =>
    command.options.some(({ long }) => long === '--limit') ? [...words, '--limit ten'].join(' ') : undefined,
  ),
];

const ofPlaces: Common[] = [
  elsewhere('no key', 3, { SVC_API_KEY: '' }, (least) => needsKey(least)),
  elsewhere('a key with quotes and blanks', 3, { SVC_API_KEY: '"$APIKEY "' }, needsKey),
  elsewhere('a key that was cut', 3, { SVC_API_KEY: 'svc_0000000000000000_cut' }, needsKey),
  elsewhere('a key that is disabled', 3, { SVC_API_KEY: '$DISABLED' }, needsKey),
  elsewhere('a profile that is not there', 3, { SVC_API_KEY: '', SVC_PROFILE: 'staging' }, needsKey),
  elsewhere(
    'a project that is not there',
    1,
    { SVC_PROJECT: 'nobody' },
    (least) => asksServer(least) && !least.path.startsWith('providers '),
  ),
  elsewhere('a project of no letters', 2, {}, hasUrl, '--project ""'),
  elsewhere(
    'an address without http',
    2,
    { SVC_API_URL: 'localhost:4000' },
    (least) => hasUrl(least) && least.path !== 'logout',
  ),
  elsewhere('an address of nothing', 2, {}, (least) => hasUrl(least) && least.path !== 'logout', '--url ""'),
  elsewhere('a server that is away', 4, { SVC_API_URL: '$AWAY' }),
  elsewhere('a host that is not there', 4, { SVC_API_URL: 'http://nowhere.invalid' }, ({ path }) =>
    ['keys list', 'deploy'].includes(path),
  ),
  elsewhere('a page of something else', 4, { SVC_API_URL: '$HTML' }),
  elsewhere('JSON of something else', 4, { SVC_API_URL: '$OTHER' }),
  elsewhere('a gateway in front of nothing', 4, { SVC_API_URL: '$GATEWAY' }),
  elsewhere('a page to sign in at', 4, { SVC_API_URL: '$SIGNIN' }),
  elsewhere('a server that hangs up', 4, { SVC_API_URL: '$HANGUP' }),
  elsewhere('a certificate of its own', 4, { SVC_API_URL: '$SELFSIGNED' }),
  elsewhere('https where there is http', 4, { SVC_API_URL: 'https://127.0.0.1:$PORT' }),
  elsewhere('a server that takes nothing now', 4, { SVC_API_URL: '$BUSY' }),
  elsewhere('an older server', 1, { SVC_API_URL: '$OLDER' }),
];

export const common: readonly Common[] = [...ofWords, ...ofPlaces];
