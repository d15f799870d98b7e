import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const projectProblems = {
  'too-many-failures': kind(
    429,
    'Too many requests with wrong credentials',
    'Send a valid API key, or wait until `retryAfter`; requests with valid credentials are answered as ever.',
    'More requests with wrong credentials came from one address within a minute than `SVC_AUTH_FAILURES_PER_MINUTE` allows.',
    true,
  ),
  'rate-limited': kind(
    429,
    'Too many requests of one key',
    'Wait until `retryAfter` and send the request again; nothing of it was done. Who runs the service sets the limit.',
    'More requests came with one API key within a second than `SVC_RATE_LIMIT_PER_KEY` allows, counted over all nodes and surfaces. The front-end tokens of a group count together.',
    true,
  ),
  'manifest-invalid': kind(
    422,
    'The manifest is not valid',
    'Correct the lines that `issues` names and deploy again.',
    'The `svc.yaml` has errors. Each issue carries the line and column. Nothing was deployed.',
  ),
  'provider-app-missing': kind(
    422,
    'No provider app is registered',
    'Register the OAuth client: POST /v1/projects/{project}/provider-apps.',
    'Connecting by OAuth needs the client id and secret that the builder got from the provider.',
  ),
  'return-url-not-allowed': kind(
    422,
    'The return URL is not allowed',
    'Add its origin to `allowedOrigins` of the project, or as the operator to `SVC_RETURN_URLS`.',
    'A return URL must have an origin from the project’s list or the operator’s, so that nobody can be sent elsewhere after connecting.',
  ),
  'connect-link-over': kind(
    410,
    'The link does not hold any more',
    'Ask whoever sent the link for another one.',
    'A connect link that is not known, has expired, was taken back, or is for one use and was opened in another browser.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(projectProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    projectProblems: typeof projectProblems;
  }
}
