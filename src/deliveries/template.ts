import type { OutgoingMessage } from './kind.ts';
import { placeholders } from './template-schema.ts';

type Name = (typeof placeholders)[number];
/** What a template needs of a message. */
type Described = Pick<
  OutgoingMessage,
  'id' | 'projectId' | 'installationId' | 'groupRef' | 'object' | 'createdAt' | 'notificationType'
>;

const timeOf = ({ createdAt }: Described): string => createdAt.toISOString();

/** Each is the same at every attempt. */
const values: Record<Name, (message: Described) => string> = {
  id: ({ id }) => id,
  object: ({ object }) => object,
  groupRef: ({ groupRef }) => groupRef,
  installationId: ({ installationId }) => installationId,
  projectId: ({ projectId }) => projectId,
  type: topicOf,
  time: timeOf,
  year: (message) => timeOf(message).slice(0, 4),
  month: (message) => timeOf(message).slice(5, 7),
  day: (message) => timeOf(message).slice(8, 10),
  hour: (message) => timeOf(message).slice(11, 13),
};

/** What a message is: the type of a notification, or `read` for records. */
export function topicOf({ notificationType }: Pick<OutgoingMessage, 'notificationType'>): string {
  return notificationType ?? 'read';
}

const placeholder = /\{\{(.*?)\}\}/gs;
/** What is wrong with a template, whatever it is for. */
export function templateFault(template: string): string | undefined {
  const unknown = namesIn(template).find((name) => !isName(name));
  if (unknown !== undefined) {
    return `has ${JSON.stringify(`{{${unknown}}}`)}: known are ${placeholders.map((name) => `{{${name}}}`).join(', ')}`;
  }
  if (/[{}]/.test(literalOf(template)))
    return 'has a brace that belongs to no {{name}}: write two before the name, and two behind it';
  // eslint-disable-next-line no-control-regex
  return /[\0-\x1f\x7f]/.test(template) ? 'has a control character, such as a line break' : undefined;
}

/** The names in their order. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = '']) => name);
}

/** The template without its names. */
export function literalOf(template: string, instead = ''): string {
  return template.replaceAll(placeholder, instead);
}

/** `written` makes each value harmless where it will stand. What is empty stands as `-`. */
export function fill(
  template: string,
  message: Described,
  written: (value: string, name: string) => string,
): string {
  return template.replaceAll(placeholder, (_all, name: string) =>
    isName(name) ? written(values[name](message), name) || '-' : '',
  );
}

function isName(name: string): name is Name {
  return Object.hasOwn(values, name);
}
