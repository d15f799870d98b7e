/**
 * JSON has neither NaN nor an invalid date: `JSON.stringify` makes null of them, and null empties a field. Throws a TypeError that names
 * the path.
 */
export function refuseNulled(value: unknown, path = ''): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw nulled(path, String(value));
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw nulled(path, 'an invalid Date');
    return;
  }
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseNulled(item, `${path}[${at}]`);
    return;
  }
  for (const [name, member] of Object.entries(value))
    refuseNulled(member, path && name ? `${path}.${name}` : name);
}

function nulled(path: string, what: string): TypeError {
  return new TypeError(
    `${path} is ${what}, which JSON cannot hold: it would be sent as null. Send null to empty the field.`,
  );
}
