import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

export const Change = Type.Object(
  {
    type: Type.String({
      description:
        'What changed: `operation`, `delivery`, `connection`, `installation`, `destination`, `event`, `read`, or another target of the audit log. A page ignores what it does not know.',
    }),
    id: Type.String({ description: 'Which; of a `read` the installation.' }),
    status: Type.Optional(
      Type.String({
        description:
          'Of an operation or a delivery its status, of an event its type, else what was done, such as `updated`.',
      }),
    ),
  },
  { ...closed, title: 'Change' },
);

/** The data of an event of the stream. */
export const Changes = Type.Object(
  {
    changes: Type.Array(Change),
    more: Type.Array(Type.String(), {
      description: 'Types of which more changed than is named: look at their lists again.',
    }),
  },
  {
    ...closed,
    title: 'Changes',
    description:
      'The `data` of each event `change` of the stream. An event `resync` says that something may have changed which is not named: look at everything again.',
  },
);
export type Changes = Static<typeof Changes>;
