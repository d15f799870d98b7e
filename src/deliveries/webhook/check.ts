import { hopByHop } from '../../kit/http/hop-by-hop.ts';
import type { Issue } from '../../kit/problem.ts';
import { hidden, hiddenFault } from '../hidden.ts';
import type { CheckContext } from '../kind.ts';
import { unlessNamed } from '../unless-named.ts';
import type { WebhookMetadata } from './schema.ts';

/** They belong to the connection, or say what HTTP itself decides. */
const reserved = new Set([...hopByHop, 'content-length', 'expect', 'host']);
const token = /^[!#$%&'*+.^_`|~\w-]{1,256}$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What the shape cannot say of a webhook. */
export function checkWebhook({ url, headers = {} }: WebhookMetadata, context: CheckContext): Issue[] {
  const detail = urlFault(url, context);
  const issues = detail === undefined ? [] : [issue('metadata.url', detail)];
  for (const [name, value] of Object.entries(headers)) {
    const at = `metadata.headers.${name}`;
    if (!token.test(name)) issues.push(issue(at, 'is not the name of a header'));
    else if (reserved.has(name.toLowerCase()))
      issues.push(issue(at, 'is a header that HTTP itself decides; leave it out'));
    else if (!headerValue.test(value))
      issues.push(issue(at, 'has a character that no header may have, such as a line break'));
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) issues.push(issue(`metadata.headers.${twice}`, 'stands twice, in two spellings'));
  return issues;
}

function issue(name: string, detail: string): Issue {
  return { in: 'body', name, detail };
}

function urlFault(text: string, { production, isAllowed }: CheckContext): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be a URL such as https://app.example.com/hooks';
  if (text.includes(hidden)) return hiddenFault;
  if (url.username !== '' || url.password !== '')
    return 'must hold no user and no password; put an Authorization header into metadata.headers';
  if (url.hash !== '') return 'must hold no fragment, which is never sent';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || 80);
  if (url.protocol === 'http:' && production && !isAllowed(host, port))
    return `must begin with https://, ${unlessNamed(host, port)}`;
  return undefined;
}
