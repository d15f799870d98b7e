import { Type } from 'typebox';

const ProblemIssue = Type.Object(
  {
    in: Type.Enum(['body', 'header', 'path', 'query']),
    name: Type.String({ description: 'Dotted path with indexes.' }),
    detail: Type.String(),
    value: Type.Optional(Type.Unknown()),
    line: Type.Optional(Type.Integer()),
    column: Type.Optional(Type.Integer()),
  },
  { title: 'ProblemIssue' },
);

export const ProviderAnswer = Type.Object(
  {
    status: Type.Optional(Type.Integer()),
    code: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
  },
  { title: 'ProviderAnswer', description: 'What the provider answered, secrets removed.' },
);

/** The body of every refusal and failure: RFC 9457 with the members that docs/contract.md names. */
export const ProblemBody = Type.Object(
  {
    type: Type.String({ description: '`urn:svc:problem:<code>`' }),
    code: Type.String({ description: 'Stable; each has a page in docs/errors.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence the caller can act on.' }),
    remedy: Type.String(),
    requestId: Type.String(),
    retryable: Type.Boolean(),
    time: Type.String({ format: 'date-time' }),
    retryAfter: Type.Optional(Type.String({ format: 'date-time' })),
    issues: Type.Optional(Type.Array(ProblemIssue)),
    moreIssues: Type.Optional(
      Type.Integer({
        description: 'How many were found beyond those that `issues` tells, which are 20 at the most.',
      }),
    ),
    provider: Type.Optional(ProviderAnswer),
  },
  {
    additionalProperties: true,
    title: 'Problem',
  },
);
