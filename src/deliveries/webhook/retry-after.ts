const mostMs = 24 * 3_600_000;

/** How long the header asks to wait, at most a day: seconds or a date (RFC 9110, 10.2.3). Undefined when it says nothing of sense. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(mostMs, Number(text) * 1000);
  // Date.parse takes other forms, too, such as `1-2`.
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(mostMs, Math.max(0, at - now));
}
