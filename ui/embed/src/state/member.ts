/** What a record holds under a name of a customer's or a builder's: `constructor` is one like any other. */
export function memberOf<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}
