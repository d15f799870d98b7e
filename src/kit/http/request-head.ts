import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isForAnybody } from './body.ts';
import { problem, refuse, type Issue, type Problem } from '../problem.ts';

/** `host[:port]`, or nothing (RFC 9112, 3.2; RFC 3986, 3.2.2): no user, no path. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** A header of a request, or another part of its head, and why it cannot be taken. */
interface HeadFault {
  name: string;
  detail: string;
}

/** The head of a request as node:http gives it: of two headers of a name it drops the second elsewhere. */
type Head = Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>;

/** What in the head of a request leaves open who is asked, or where it ends, if anything (RFC 9112, 2.3, 3.2 and 6.1). Pure. */
export function headFault(head: Head): HeadFault | undefined {
  return faultOf(head, seenIn(head.rawHeaders));
}

function faultOf({ httpVersion }: Head, { host, hosts, codings }: Seen): HeadFault | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return { name: 'version', detail: `HTTP/${httpVersion} is not spoken here; send HTTP/1.1` };
  if (hosts > 1) return { name: 'host', detail: 'must be sent once' };
  if (hosts === 0 ? httpVersion === '1.1' : !hostForm.test(host))
    return { name: 'host', detail: 'must be sent, as a host with or without a port' };
  if (httpVersion === '1.0' && codings > 0)
    return {
      name: 'transfer-encoding',
      detail: 'is of HTTP/1.1; in HTTP/1.0 a body is sent with its length',
    };
  return undefined;
}

interface Seen {
  host: string;
  hosts: number;
  codings: number;
  types: number;
}

/** Every request pays for this: one pass, and only names of the right length are looked at. */
function seenIn(rawHeaders: readonly string[]): Seen {
  const seen: Seen = { host: '', hosts: 0, codings: 0, types: 0 };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') {
      seen.hosts += 1;
      seen.host = rawHeaders[at + 1] ?? '';
    } else if (name.length === 12 && name.toLowerCase() === 'content-type') seen.types += 1;
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') seen.codings += 1;
  }
  return seen;
}

/** Whether a request expects something beside 100-continue, which node looks for among others (RFC 9110, 10.1.1). Pure. */
export function expectsMore({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const expected = headers.expect?.split(',') ?? [];
  return expected.some((one) => !/^\s*100-continue\s*$/i.test(one));
}

/** The refusal of a request whose head can be read in two ways. */
export function headRefusal({ raw }: Pick<FastifyRequest, 'raw'>): Problem | undefined {
  const seen = seenIn(raw.rawHeaders);
  const fault =
    faultOf(raw, seen) ??
    (seen.types > 1 ? { name: 'content-type', detail: 'must be sent once' } : undefined);
  if (!fault) return undefined;
  const { name, detail } = fault;
  return problem('malformed-request', {
    detail: name === 'version' ? `${detail}.` : `The header ${name} ${detail}.`,
  });
}

/**
 * The refusal of a query of which a parameter is no UTF-8. Pages are shown whatever stands there, and others send
 * browsers back with texts of theirs.
 */
export function queryRefusal({
  url,
  routeOptions,
}: Pick<FastifyRequest, 'url' | 'routeOptions'>): Problem | undefined {
  const queryAt = url.indexOf('?');
  if (queryAt < 0 || !url.includes('%', queryAt)) return undefined;
  const isOperation = routeOptions.schema !== undefined && 'operationId' in routeOptions.schema;
  if (!isOperation || isForAnybody(routeOptions)) return undefined;
  const issues = undecodable(url.slice(queryAt + 1));
  return issues.length > 0 ? refuse(issues) : undefined;
}

/** Parameters that are no UTF-8: they would be compared as other text than was meant. An escape that is none stays as it is. */
function undecodable(query: string): Issue[] {
  return query.split('&').flatMap((pair): Issue[] => {
    try {
      decodeURIComponent(pair.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
      return [];
    } catch {
      const [name = ''] = pair.split('=', 1);
      return [{ in: 'query', name, detail: 'is not UTF-8, percent-encoded' }];
    }
  });
}
