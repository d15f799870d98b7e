import { Type, type Static } from 'typebox';
import { placeholderList } from '../template-schema.ts';

export const defaultKeyTemplate = '{{time}}_{{id}}.json';

export const S3Metadata = Type.Object(
  {
    bucket: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'It must exist.',
      examples: ['crm-records'],
    }),
    region: Type.String({
      pattern: '^[a-z0-9-]{1,50}$',
      description: 'The region of the bucket. Stores that know none want `us-east-1` or `auto`.',
      examples: ['eu-central-1'],
    }),
    keyTemplate: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        default: defaultKeyTemplate,
        description: `The key of each object. It may name ${placeholderList}, and must name \`{{id}}\`, so that no message takes the place of another.`,
        examples: ['{{object}}/{{year}}/{{month}}/{{day}}/{{id}}.json'],
      }),
    ),
    storageClass: Type.Optional(
      Type.String({ pattern: '^[A-Z0-9_]{1,50}$', default: 'STANDARD', examples: ['STANDARD_IA'] }),
    ),
    endpointUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Of a store other than Amazon’s. HTTPS.',
        examples: ['https://minio.example.com'],
      }),
    ),
    pathStyle: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Names the bucket in the path and not in the host, as stores want whose host has no name for each bucket.',
      }),
    ),
  },
  { additionalProperties: false, title: 'S3Metadata' },
);
export type S3Metadata = Static<typeof S3Metadata>;

const secret = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 4_096,
    pattern: '^[\\x21-\\x7e]+$',
    description,
    examples: [example],
  });

export const S3Secrets = Type.Object(
  {
    awsKeyId: secret('The id of the access key.', 'AKIAIOSFODNN7EXAMPLE'),
    awsSecretKey: secret('The access key.', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
    awsSessionToken: Type.Optional(
      secret('Of temporary keys. When they expire, deliveries fail until they are changed.', 'IQoJb3JpZ2lu'),
    ),
  },
  { additionalProperties: false, title: 'S3Secrets' },
);
export type S3Secrets = Static<typeof S3Secrets>;
