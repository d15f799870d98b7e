/** `host[:port]`, or nothing (RFC 9112, 3.2; RFC 3986, 3.2.2): no user, no path. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * Why a request's Host cannot be taken (RFC 9112, 3.2), if it cannot. `rawHeaders` as node:http gives them: of two it
 * drops the second elsewhere. `isNeeded`: HTTP/1.1, not 1.0.
 */
export function hostFault(rawHeaders: readonly string[], isNeeded: boolean): string | undefined {
  let host: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== undefined) return 'must be sent once';
    host = rawHeaders[at + 1] ?? '';
  }
  if (host === undefined ? !isNeeded : hostForm.test(host)) return undefined;
  return 'must be sent, as a host with or without a port';
}
