/** What templates of keys may name of a message, each as `{{name}}`. */
export const placeholders = [
  'id',
  'object',
  'groupRef',
  'installationId',
  'projectId',
  'type',
  'time',
  'year',
  'month',
  'day',
  'hour',
] as const;

/** For the descriptions of metadata. */
export const placeholderList = placeholders.map((name) => `\`{{${name}}}\``).join(', ');
