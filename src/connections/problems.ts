import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const connectionProblems = {
  'provider-app-invalid': kind(
    422,
    'The provider app is not right',
    'Correct the client id, client secret, redirect URI or scopes of the provider app.',
    'The provider refused the builder’s OAuth client, or the provider app lacks scopes that the provider asks for. The customer’s connection stays as it is.',
  ),
  'auth-scheme-mismatch': kind(
    422,
    'The credentials do not fit the provider',
    'Send the block of credentials that the provider’s `authType` asks for.',
    'The credentials sent are of another kind than the provider, or the connection that is being changed, uses.',
  ),
  'credentials-rejected': kind(
    422,
    'The provider rejected the credentials',
    'Check the credentials at the provider and send them again.',
    'The token endpoint of the provider, or its health check, refused the credentials.',
  ),
  'credentials-unreadable': kind(
    500,
    'The stored credentials cannot be opened',
    'Tell the operator of this service: the master keys of a node are not those that sealed the credentials, or the row was changed by hand. Nothing was sent.',
    'No configured master key opens the credentials of the connection, or the secrets of the destination, in their row.',
    true,
  ),
  'connection-bad-credentials': kind(
    422,
    'The connection’s credentials no longer work',
    'Let the customer connect again: PATCH …/connections/{id}:oauth-update.',
    'The provider rejected the connection’s credentials, or their refresh. Calls stop until they are renewed.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(connectionProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    connectionProblems: typeof connectionProblems;
  }
}
