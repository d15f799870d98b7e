/** What failed, classified once (docs/contract.md, Failures). */
export const categories = [
  'validation',
  'permission',
  'auth',
  'notFound',
  'conflict',
  'rateLimit',
  'providerDown',
  'unknownOutcome',
  'internal',
] as const;

export const actionTypes = ['write', 'read'] as const;

export const statuses = ['in_progress', 'success', 'failure'] as const;
