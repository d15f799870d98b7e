import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

export const WebhookMetadata = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description:
        'Where messages are posted to. HTTPS. The values of its query are shown to the scopes `full` and `develop` alone.',
      examples: ['https://app.example.com/hooks/svc'],
    }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 4_096 }), {
        maxProperties: 50,
        description:
          'Sent with each message. Those of the message itself win. Their values are shown to the scopes `full` and `develop` alone.',
      }),
    ),
  },
  { ...closed, title: 'WebhookMetadata' },
);
export type WebhookMetadata = Static<typeof WebhookMetadata>;

export const WebhookSecrets = Type.Object(
  {
    webhookSigningKey: Type.Optional(
      Type.String({
        pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
        description:
          'The key of the signatures, `whsec_` and 24 to 64 bytes in base64. Made here unless one is given.',
      }),
    ),
  },
  { ...closed, title: 'WebhookSecrets' },
);
export type WebhookSecrets = Static<typeof WebhookSecrets>;
