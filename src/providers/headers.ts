const denied = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-api-key',
  // Some servers take these for another method or URL.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
const deniedPrefix = /^(?:proxy-|x-svc-|x-forwarded-)/;
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Whether a caller of the write surface may forward a header of this name: nothing that carries credentials, the host, the framing or the form of the answer. */
export function isForwardable(name: string): boolean {
  const lower = name.toLowerCase();
  return token.test(lower) && !denied.has(lower) && !deniedPrefix.test(lower);
}

const unsafeValue = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** Whether a text may stand in a header: no line break or other control character, nothing outside Latin-1 (RFC 9110, 5.5). */
export function isHeaderValue(text: string): boolean {
  return !unsafeValue.test(text);
}
