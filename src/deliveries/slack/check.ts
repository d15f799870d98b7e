import type { Issue } from '../../kit/problem.ts';
import { hidden, hiddenFault } from '../hidden.ts';
import type { CheckContext } from '../kind.ts';
import { unlessNamed } from '../unless-named.ts';
import type { SlackMetadata } from './schema.ts';

const hosts = new Set(['hooks.slack.com', 'hooks.slack-gov.com']);

/** What the shape cannot say. */
export function checkSlack({ url }: SlackMetadata, context: CheckContext): Issue[] {
  const detail = faultOf(url, context);
  return detail === undefined ? [] : [{ in: 'body', name: 'metadata.url', detail }];
}

/** Others speak the same, such as Mattermost: the operator names them. */
function faultOf(text: string, { isAllowed }: CheckContext): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    return 'must be the URL of an incoming webhook, such as https://hooks.slack.com/services/T000/B000/XXXX';
  if (text.includes(hidden)) return hiddenFault;
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    return 'must hold no user, no password and no fragment: write it as Slack shows it';
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
  if (isAllowed(host, port)) return undefined;
  if (url.protocol === 'http:') return `must begin with https://, ${unlessNamed(host, port)}`;
  if (hosts.has(url.hostname)) return undefined;
  return `must begin with https://hooks.slack.com/, ${unlessNamed(host, port)}`;
}
