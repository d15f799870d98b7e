import type { SvcError } from '../../ui/client/src/index.ts';
import { inOptions } from './option-names.ts';

type Said = Pick<SvcError, 'code' | 'remedy' | 'operationId'> & Partial<Pick<SvcError, 'detail'>>;

const atAddress = '--url, SVC_API_URL, or the one of `svc login`';

export const settleUnknown =
  'Look at `svc operations get`: while it is in progress, the record is still being looked for. Once it has ended, look at the record in the provider and say so with `svc operations resolve`.';

/** What to do about a problem in a shell, where svc could only name a request, or said nothing. */
const inShell: Readonly<Record<string, string>> = {
  unreachable: `Check that svc runs, and its address: ${atAddress}.`,
  'unexpected-answer': `Check the address: ${atAddress}.`,
  unauthenticated: 'Run `svc login` with a valid API key, or set SVC_API_KEY.',
  'route-not-found':
    'The server is older than this command: update it, or use the command line of its release.',
  'provider-unknown': 'Look for it with `svc providers search`.',
  'installation-not-found':
    'Look for it with `svc installations list`, or make it with `svc installations create`.',
  'already-exists': 'Change it with `svc installations update`.',
  'provider-app-missing':
    'Tell of your OAuth app at the provider with `svc provider-apps create`; `svc provider-apps list` shows those that are known.',
  'ability-unsupported':
    'Leave the option away, or use a provider that supports it; `svc providers get` says which ones do.',
  'no-usable-connection':
    'Send the customer the link of `svc connections connect`, or of `svc connections reconnect` where one stopped working.',
  'connection-bad-credentials': 'Send the customer the link of `svc connections reconnect`.',
  'shutting-down': 'Run the command again; another node will take it.',
  'outcome-unknown': settleUnknown,
  'provider-timeout': settleUnknown,
  'idempotency-key-reused':
    'Use a new --idempotency-key for another write; `svc operations get` tells what this one stands for.',
  'outcome-known': 'Resolve only records whose outcome is unknown: `svc operations records` tells them.',
  'outcome-unresolved':
    'Look at the records in the provider and settle them first with `svc operations resolve`.',
  'nothing-to-retry': 'Look at the outcomes: `svc operations records`.',
  'delivery-pending':
    'Wait: it is attempted by itself. `svc destinations enable` tries all that waits there at once.',
  'message-not-kept':
    'Read the records again with `svc read`. How long the content of what is delivered is kept, the settings of the project say (`keepDays.messages`).',
  'no-destination':
    'Name a destination in `svc.yaml` or in the config of the installation, and make it with `svc destinations create` or `svc destinations enable`.',
  'export-sealed':
    'Give the server the master key back (SVC_ENCRYPTION_KEYS), or delete or renew what is named above, and export again.',
  'export-busy':
    'Ask again in a minute. Until then connections that an export marked are not used; `svc export --undo` takes them back.',
};

/** Which command tells what there is, by how svc says that something is not there. */
const lists: Readonly<Record<string, string>> = {
  'API key': 'svc keys list',
  'provider app': 'svc provider-apps list',
  connection: 'svc connections list',
  delivery: 'svc deliveries list',
  destination: 'svc destinations list',
  installation: 'svc installations list',
  integration: 'svc integrations list',
  operation: 'svc operations list',
  provider: 'svc providers search',
  replay: 'svc deliveries replays',
};

/** Members of an answer, which a shell does not show by these names. */
const inAnswer: readonly (readonly [RegExp, string])[] = [
  [/`issues`/, 'Correct that and run the command again.'],
  [/`provider\.message`/, 'Correct the record and run the command again.'],
  [/named in `detail`/, 'Use a key that has one of the scopes named above.'],
  [/`detail` names the limit/, 'Send less at once: the limit is named above.'],
  [/^The masks allowed /, 'Name a part such as read.objects.contacts or write.objects.'],
];

/** Those hold whatever the remedy of the server says: it cannot know of the shell. */
const always = new Set([
  'unreachable',
  'unexpected-answer',
  'unauthenticated',
  'route-not-found',
  'installation-not-found',
  'idempotency-key-reused',
]);

/** Whether a remedy names a request to send, or a header of one, which nobody in a shell has at hand. */
export function namesRequest(remedy: string): boolean {
  return /\b(GET|POST|PUT|PATCH|DELETE) [/…]|`Retry-Failed: /.test(remedy);
}

/** What to do about a refusal, by the commands of this program. */
export function remedyOf({ code, remedy, operationId, detail = '' }: Said): string {
  if (detail.startsWith('There is no project '))
    return 'Name the project of the API key: --project or SVC_PROJECT.';
  if (code === 'already-exists' && detail.includes('provider app '))
    return 'Change it with `svc provider-apps update`, or give another client id.';
  if (code === 'connection-bad-credentials' && detail.includes('moved to another server'))
    return 'Send it to the server that the project was moved to; `svc export --undo` uses the connections here again.';
  if (code === 'installation-not-found' && detail.startsWith('The key or token reaches the group '))
    return 'Use a key of that group, or one that is confined to none.';
  if (code === 'installation-not-found' && detail.startsWith('There is no integration '))
    return `Look for it with \`${lists['integration']}\`.`;
  if (code === 'installation-not-found' && detail.startsWith('The installation of the operation '))
    return 'Send the records in a new write: `svc operations records` tells which were not done.';
  const [, before] = /^There is no [A-Z]+ (?!\/write\/v1\/)(\/\S+?)(?:\/write)?\/v1\//.exec(detail) ?? [];
  if (code === 'route-not-found' && before !== undefined)
    return `Check the address, which ends with ${before}: ${atAddress}.`;
  const [atProxy] = /^This is the port of the proxy; the API answers at \S+\.(?= |$)/.exec(remedy) ?? [];
  if (atProxy !== undefined) return `${atProxy} Name it there: ${atAddress}.`;
  const own = inShell[code];
  if (own !== undefined && (always.has(code) || namesRequest(remedy)))
    return operationId === undefined
      ? own
      : own.replaceAll(/`(svc operations \w+)`/g, `\`$1 ${operationId}\``);
  const [, thing = ''] = /(?:^There is| has) no (API key|provider app|\w+) /.exec(detail) ?? [];
  if (lists[thing] !== undefined) return `Look for it with \`${lists[thing]}\`.`;
  return inAnswer.find(([member]) => member.test(remedy))?.[1] ?? inOptions(remedy);
}
