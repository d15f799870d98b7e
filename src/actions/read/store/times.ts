/** Times in statements: milliseconds since the epoch here, timestamps there. */

export const msOf = (column: string): string => `round(extract(epoch FROM ${column}) * 1000)::float8`;

export const timestampOf = (ms: string): string => `to_timestamp(${ms} / 1000.0)`;
