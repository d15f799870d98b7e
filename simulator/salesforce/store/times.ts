/** The form of every datetime in REST answers: UTC with `+0000`, and whole seconds, for more is not kept. */
export function formatDatetime(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('Z', '+0000');
}

/** The form bulk results use for the same instant. */
export function bulkDatetime(stored: string): string {
  return stored.replace('+0000', 'Z');
}

const datetimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** Reads an ISO datetime with Z or an offset (none means UTC) to ms; undefined when it is not one. */
export function parseDatetime(text: string): number | undefined {
  const match = datetimePattern.exec(text);
  if (!match) return undefined;
  const zone = match[3];
  const colon =
    zone && zone !== 'Z' && !zone.includes(':') ? `${zone.slice(0, 3)}:${zone.slice(3)}` : (zone ?? 'Z');
  const ms = Date.parse((zone ? text.slice(0, -zone.length) : text) + colon);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Reads `YYYY-MM-DD` and gives it back, or undefined when there is no such day. */
export function parseDate(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms)) return undefined;
  return new Date(ms).toISOString().startsWith(text) ? text : undefined;
}
