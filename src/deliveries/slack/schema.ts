import { Type, type Static } from 'typebox';

export const SlackMetadata = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description:
        'The URL of an incoming webhook of Slack, by which anybody can post. It is shown to the scopes `full` and `develop` alone, others see its host.',
      examples: ['https://hooks.slack.com/services/T000/B000/XXXX'],
    }),
  },
  { additionalProperties: false, title: 'SlackMetadata' },
);
export type SlackMetadata = Static<typeof SlackMetadata>;

export const SlackSecrets = Type.Object({}, { additionalProperties: false, title: 'SlackSecrets' });
