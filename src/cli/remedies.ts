import type { SvcError } from '../../ui/client/src/index.ts';

type Said = Pick<SvcError, 'code' | 'remedy' | 'operationId'>;

const atAddress = '--url, SVC_API_URL, or the one of `svc login`';

/** What to do about a problem in a shell, where svc could only name a request, or said nothing. */
const inShell: Readonly<Record<string, string>> = {
  unreachable: `Check that svc runs, and its address: ${atAddress}.`,
  'unexpected-answer': `Check the address: ${atAddress}.`,
  unauthenticated: 'Run `svc login` with a valid API key, or set SVC_API_KEY.',
  'route-not-found':
    'The server is older than this command: update it, or use the command line of its release.',
  'provider-unknown': 'Look for it with `svc providers search`.',
  'ability-unsupported':
    'Leave the option away, or use a provider that supports it; `svc providers get` says which ones do.',
  'no-usable-connection':
    'Send the customer the link of `svc connections connect`, or of `svc connections reconnect` where one stopped working.',
  'connection-bad-credentials': 'Send the customer the link of `svc connections reconnect`.',
  'outcome-unknown':
    'Look at `svc operations get`: while it is in progress, the record is still being looked for. Once it has ended, look at the record in the provider and say so with `svc operations resolve`.',
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
  'export-busy':
    'Ask again in a minute. Until then the connections that were marked are not used; `svc export --undo` takes them back.',
};

/** Those hold whatever the remedy of the server says: it cannot know of the shell. */
const always = new Set(['unreachable', 'unexpected-answer', 'unauthenticated', 'route-not-found']);

/** Whether a remedy names a request to send, which nobody in a shell has at hand. */
export function namesRequest(remedy: string): boolean {
  return /\b(GET|POST|PUT|PATCH|DELETE) [/…]/.test(remedy);
}

/** What to do about a refusal, by the commands of this program. */
export function remedyOf({ code, remedy, operationId }: Said): string {
  const own = inShell[code];
  if (own === undefined || !(always.has(code) || namesRequest(remedy))) return remedy;
  return operationId === undefined ? own : own.replaceAll(/`(svc operations \w+)`/g, `\`$1 ${operationId}\``);
}
