import { Type, type Static } from 'typebox';
import { placeholderList } from '../template-schema.ts';

export const defaultRoutingKey = '{{type}}.{{object}}';

const name = { maxLength: 255, pattern: '^[^\\u0000-\\u001f\\u007f]*$' };

export const AmqpMetadata = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: '`amqps://host:port/vhost`, without user and password. `amqp:` is not encrypted.',
      examples: ['amqps://rabbit.example.com/crm'],
    }),
    exchange: Type.String({
      ...name,
      description: 'It must exist. The empty one takes the name of a queue for the routing key.',
      examples: ['crm-records'],
    }),
    routingKeyTemplate: Type.Optional(
      Type.String({
        ...name,
        default: defaultRoutingKey,
        description: `The routing key of each message. It may name ${placeholderList}.`,
        examples: ['{{type}}.{{object}}'],
      }),
    ),
  },
  { additionalProperties: false, title: 'AmqpMetadata' },
);
export type AmqpMetadata = Static<typeof AmqpMetadata>;

const secret = { minLength: 1, maxLength: 1_000, pattern: '^[^\\u0000]+$' };

export const AmqpSecrets = Type.Object(
  {
    username: Type.String({ ...secret, examples: ['svc'] }),
    password: Type.String({ ...secret, examples: ['a-long-password'] }),
  },
  { additionalProperties: false, title: 'AmqpSecrets' },
);
export type AmqpSecrets = Static<typeof AmqpSecrets>;
