import type {
  AmqpMetadata,
  AmqpSecrets,
  DestinationType,
  FileMetadata,
  PostgresMetadata,
  PostgresSecrets,
  S3Metadata,
  S3Secrets,
  SlackMetadata,
  WebhookMetadata,
  WebhookSecrets,
} from '@svc/client';

/** A field of a kind of destination, as a form shows it. */
export interface KindField {
  name: string;
  label: string;
  hint?: string;
  /** How it is typed: text when absent; `headers` is a line for each, `Name: value`. */
  look?: 'number' | 'yesOrNo' | 'headers';
  placeholder?: string;
  /** Empty text is a value of its own, and not the absence of one. */
  mayBeEmpty?: true;
}

type FieldsOf<Shape> = { [Name in keyof Shape]-?: Omit<KindField, 'name'> };

const fieldsOf = <Shape>(fields: FieldsOf<Shape>): readonly KindField[] =>
  Object.entries<Omit<KindField, 'name'>>(fields).map(([name, field]) => Object.assign({ name }, field));

interface Kind {
  about: string;
  metadata: readonly KindField[];
  secrets: readonly KindField[];
}

const names = '{{id}}, {{object}}, {{groupRef}}, {{type}}, {{time}}, {{year}}, {{month}}, {{day}}, {{hour}}';

/** What each kind of destination is made of. */
export const kinds: Record<DestinationType, Kind> = {
  webhook: {
    about: 'Each message is posted to your address, signed.',
    metadata: fieldsOf<WebhookMetadata>({
      url: {
        label: 'URL',
        hint: 'The values of its query are shown to who may change the destination.',
        placeholder: 'https://example.com/hooks/svc',
      },
      headers: {
        label: 'Headers',
        hint: 'Sent with each message, one a line. Their values are shown to who may change the destination.',
        look: 'headers',
        placeholder: 'X-Source: svc',
      },
    }),
    secrets: fieldsOf<WebhookSecrets>({
      webhookSigningKey: { label: 'Signing key', hint: 'Made here unless you have one: whsec_ and base64.' },
    }),
  },
  postgres: {
    about: 'Each record is a row, in a table for each object.',
    metadata: fieldsOf<PostgresMetadata>({
      url: { label: 'URL', hint: 'Without a password.', placeholder: 'postgresql://svc@db.example.com/crm' },
      schema: { label: 'Schema', hint: 'It must exist.' },
      tablePrefix: { label: 'Prefix of the tables' },
    }),
    secrets: fieldsOf<PostgresSecrets>({ password: { label: 'Password' } }),
  },
  s3: {
    about: 'Each message is an object in a bucket of Amazon S3, or of a store that speaks like it.',
    metadata: fieldsOf<S3Metadata>({
      bucket: { label: 'Bucket', hint: 'It must exist.' },
      region: { label: 'Region', placeholder: 'eu-central-1' },
      keyTemplate: {
        label: 'Key of each object',
        hint: `It must name {{id}}, and may name ${names}.`,
        placeholder: '{{time}}_{{id}}.json',
      },
      storageClass: { label: 'Storage class', placeholder: 'STANDARD' },
      endpointUrl: { label: 'Endpoint', hint: 'Of a store other than Amazon’s.' },
      pathStyle: { label: 'The bucket stands in the path', look: 'yesOrNo' },
    }),
    secrets: fieldsOf<S3Secrets>({
      awsKeyId: { label: 'Access key id' },
      awsSecretKey: { label: 'Secret access key' },
      awsSessionToken: {
        label: 'Session token',
        hint: 'Of temporary keys; when they expire, deliveries fail.',
      },
    }),
  },
  amqp: {
    about: 'Each message is published to an exchange of RabbitMQ, or of another broker of AMQP 0-9-1.',
    metadata: fieldsOf<AmqpMetadata>({
      url: { label: 'URL', hint: 'Without user and password.', placeholder: 'amqps://mq.example.com/vhost' },
      exchange: {
        label: 'Exchange',
        hint: 'It must exist. Empty: the routing key is the name of a queue.',
        mayBeEmpty: true,
      },
      routingKeyTemplate: {
        label: 'Routing key',
        hint: `It may name ${names}.`,
        placeholder: '{{type}}.{{object}}',
      },
    }),
    secrets: fieldsOf<AmqpSecrets>({ username: { label: 'User' }, password: { label: 'Password' } }),
  },
  slack: {
    about: 'Each message is a short text in a channel. It is made for notifications.',
    metadata: fieldsOf<SlackMetadata>({
      url: {
        label: 'URL of the incoming webhook',
        hint: 'Who has it can post with it. It is shown to who may change the destination.',
        placeholder: 'https://hooks.slack.com/services/…',
      },
    }),
    secrets: [],
  },
  file: {
    about: 'Each message is a line of a file beside the server. It is made to try things.',
    metadata: fieldsOf<FileMetadata>({
      name: { label: 'Name of the file', hint: 'Letters, digits, _ and -.' },
      maxBytes: { label: 'Largest size in bytes', look: 'number', placeholder: '10000000' },
      keep: { label: 'Files that are put aside', look: 'number', placeholder: '5' },
    }),
    secrets: [],
  },
};

/** What a field of a form holds: text, whatever it stands for. */
export type Typed = Readonly<Record<string, string>>;

export const typedOf = (fields: readonly KindField[], values: Readonly<Record<string, unknown>>): Typed =>
  Object.fromEntries(fields.map(({ name, look }) => [name, shown(values[name], look)]));

function shown(value: unknown, look: KindField['look']): string {
  if (look === 'headers') return linesOf(value).join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replaceAll('"', '');
}

/** Headers as they are typed and shown: a line for each. */
export const linesOf = (headers: unknown): string[] =>
  Object.entries((headers ?? {}) as Record<string, string>).map(([name, text]) => `${name}: ${text}`);

/** What was typed, as the API takes it; what is empty is left out. */
export function valuesOf(fields: readonly KindField[], typed: Typed): Record<string, unknown> {
  const given = fields.filter(({ name, mayBeEmpty }) => mayBeEmpty || (typed[name] ?? '').trim() !== '');
  return Object.fromEntries(given.map((field) => [field.name, valueOf(field, typed[field.name] ?? '')]));
}

/** Text that is no number stays text: the server says at the field what is wrong. */
export function valueOf({ look }: KindField, text: string): unknown {
  if (look === 'yesOrNo') return text === 'true';
  if (look === 'number') return /^\d+$/.test(text.trim()) ? Number(text) : text;
  if (look !== 'headers') return text.trim();
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':');
      return [name.trim(), rest.join(':').trim()];
    }),
  );
}

/** The paths of the issues that stand at the fields of a kind. */
export const pathsOf = (type: DestinationType): string[] => [
  ...kinds[type].metadata.map(({ name }) => `metadata.${name}`),
  ...kinds[type].secrets.map(({ name }) => `secrets.${name}`),
];
