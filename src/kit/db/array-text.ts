/** A control character: JSON writes it with an escape that an array does not know. */
const control = /[^ -\uffff]/;

/**
 * A parameter as PostgreSQL reads it. Of an array of scalars JSON's form is an array's form, too, and is written in one step,
 * where the driver takes three for each element. What JSON would write in another way is left to the driver.
 */
export function parameter(value: unknown): unknown {
  return Array.isArray(value) && value.every(isAlikeInJson)
    ? `{${JSON.stringify(value).slice(1, -1)}}`
    : value;
}

function isAlikeInJson(value: unknown): boolean {
  if (typeof value === 'string') return !control.test(value) && value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || value === undefined || typeof value === 'boolean';
}
