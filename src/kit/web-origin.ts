/** No host that a browser calls has anything else; more of it would be a wildcard or a directive in a policy header. */
const form = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** Whether a text is the origin of a page as browsers send it: scheme, host and, unless it is the usual one, port. */
export function isWebOrigin(text: string): boolean {
  return form.test(text) && URL.parse(text)?.origin === text;
}
