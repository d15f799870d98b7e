/** RFC 3339; the database knows no zone beyond 16 hours, and reads no text that is much longer. */
const form =
  /^(\d{4}-\d\d-\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,20})?(?:[Zz]|[+-](?:0\d|1[0-5]):[0-5]\d)$/;

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether the text is a time that `Date.parse` and the database take for the same moment: of the years 1 to 9999, without leap seconds. */
export function isTime(text: string): boolean {
  const day = form.exec(text)?.[1];
  if (day === undefined) return false;
  const midnight = new Date(`${day}T00:00:00Z`);
  const at = Date.parse(text);
  // `Date.parse` takes the 30th of February for the 2nd of March.
  return at >= firstMs && at <= lastMs && midnight.toISOString().startsWith(day);
}
