/** Whether a text is the origin of a page as browsers send it: scheme, host and, unless it is the usual one, port. */
export function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.parse(text)?.origin === text;
}
