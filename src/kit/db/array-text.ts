/** JSON would write it with an escape that an array does not know, or refuse it. */
const escapes = /[\0-\x1f]/;

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
  switch (typeof value) {
    case 'string':
      return !escapes.test(value) && value.isWellFormed();
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
    case 'undefined':
      return true;
    default:
      return value === null;
  }
}
