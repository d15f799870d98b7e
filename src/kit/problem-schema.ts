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

/** What a provider answered, secrets removed. */
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
    examples: [
      {
        type: 'urn:svc:problem:invalid-request',
        code: 'invalid-request',
        title: 'The request is not valid',
        status: 400,
        detail: 'body.groupRef is required.',
        remedy: 'Correct what `issues` names and send the request again.',
        requestId: '0192f0c1-7a3e-7c54-9f6b-2d1f0c8e4a10',
        retryable: false,
        time: '2026-01-15T09:30:00.000Z',
        issues: [{ in: 'body', name: 'groupRef', detail: 'is required' }],
      },
    ],
  },
);
