import { kind, varying, type DeclaredProblems, type ProblemKind } from './problem-kind.ts';

/** What any surface answers with. */
export const commonProblems = {
  'invalid-request': kind(
    400,
    'The request is not valid',
    'Correct what `issues` names and send the request again.',
    'The body, the query or a path parameter has a wrong type, a value out of range, an unknown property, or options that exclude one another. Nothing was written and nothing was sent.',
  ),
  'malformed-json': kind(
    400,
    'The body is not valid JSON',
    'Send a JSON document in UTF-8 with the header `Content-Type: application/json`.',
    'The body could not be parsed as JSON, is not UTF-8, was empty where one is required, or contains a key that is never accepted (`__proto__`).',
  ),
  'malformed-request': kind(
    400,
    'The request is not valid HTTP',
    'Let an HTTP client frame the request.',
    'The request line, the headers or the framing of the body break the rules of HTTP/1.1, the header `Host` is missing, or the body ended too early. Nothing was done.',
  ),
  'request-timeout': kind(
    408,
    'The request came too slowly',
    'Send the request again without pauses.',
    'The headers or the body of the request were not complete in time. Nothing was done.',
    true,
  ),
  'expectation-failed': kind(
    417,
    'The expectation is not known',
    'Send `Expect: 100-continue`, or leave the header away.',
    'The header `Expect` asks for something other than `100-continue`. Nothing was done.',
  ),
  'headers-too-large': kind(
    431,
    'The headers are too large',
    'Send fewer or shorter headers, or a shorter URL.',
    'The request line and the headers together are larger than 16 KiB. Nothing was done.',
  ),
  'unsupported-media-type': kind(
    415,
    'The content type is not supported',
    'Send JSON in UTF-8, not compressed, with the header `Content-Type: application/json`.',
    'The management, write and read surfaces take JSON, in UTF-8 and without a content encoding; the two calls that deploy an `svc.yaml` take `application/yaml`, too. The proxy passes every content type.',
  ),
  'body-too-large': kind(
    413,
    'The body is too large',
    'Send less in one request; `detail` names the limit.',
    'The request body is over the limit of the endpoint: 1 MiB, 2 MiB for an `svc.yaml`, 32 MiB for an import, 16 KiB where anybody may call (`POST /v1/session`, `POST /v1/connect-links:open`), and for a write `SVC_BODY_LIMIT_BYTES` (10 MiB unless configured otherwise).',
  ),
  'page-not-built': kind(
    503,
    'The page is not built',
    'Tell the operator of this service: `npm run build:pages` builds it where the packages for development are installed.',
    'The console and the page of connect links are built from `ui/`, by the image, before `npm start`, or at their first request, and that failed.',
    true,
  ),
  unauthenticated: kind(
    401,
    'The credentials are missing or not known',
    'Send a valid API key in the header `X-Api-Key`.',
    'No key was sent, or the key is malformed, unknown, deleted or inactive, or the token is expired or not signed by a registered key.',
  ),
  forbidden: kind(
    403,
    'The credentials do not allow this',
    'Use a key whose scopes include one of those named in `detail`.',
    'The key is known, but its scopes do not include what this call needs.',
  ),
  'not-found': kind(
    404,
    'Not found',
    'Check the id or name, and that it belongs to the project of the API key.',
    'What the path names does not exist, or belongs to another project or group. Both look the same on purpose.',
  ),
  'route-not-found': kind(
    404,
    'There is no such endpoint',
    'Compare method and path with the API reference at `/docs/api`.',
    'The method and path do not name an endpoint of this surface.',
  ),
  'already-exists': kind(
    409,
    'It already exists',
    'Change the existing one, or use another name.',
    'Something with the same unique name exists, or there can be one only. `detail` says which.',
  ),
  conflict: kind(
    409,
    'The state changed meanwhile',
    'Read the current state and send the request again.',
    'Two changes of the same thing met; this one was not applied.',
    true,
  ),
  'egress-refused': kind(
    502,
    'The address is not allowed',
    'Ask the operator to allow the address (`SVC_EGRESS_ALLOW`).',
    'The address that was to be called is private, local or otherwise not allowed for outgoing calls.',
  ),
  'database-unavailable': varying(
    503,
    'The database is not reachable',
    'Try again in a few seconds. Where `retryable` is false, the request was done, or a part of it, or that is not known: look before you repeat it.',
    'The service cannot reach its database, or may not use it. Nothing was accepted. It recovers by itself once it can.',
    true,
  ),
  'clock-wrong': kind(
    503,
    'The clock of this node is wrong',
    'Set the clock of the machine (NTP), and start the node again.',
    'The clock of the node differs from that of the database by more than a day. The node does not start, and one that runs is not ready.',
    true,
  ),
  restored: kind(
    503,
    'The database was restored and is held',
    'The operator runs `svc restore resume`, which ends or looks up what was unfinished, and the nodes go on.',
    'The database was restored from a backup, or is a copy. Nothing is read, sent or accepted until the operator says so: what was unfinished in the backup may have been done after it.',
    true,
  ),
  'shutting-down': kind(
    503,
    'The service is shutting down',
    'Send the request again; another node will take it.',
    'This node is finishing its work before it stops.',
    true,
  ),
  overloaded: kind(
    503,
    'The service is overloaded',
    'Try again in a few seconds.',
    'More requests wait than this node takes.',
    true,
  ),
  internal: varying(
    500,
    'Something went wrong here',
    'Report the `requestId` to the operator. If `retryable` is false, it is not known whether the request was done: look before you repeat it.',
    'A fault of this service. The log holds the details under the same request id.',
    true,
  ),
} as const satisfies Record<string, ProblemKind>;

/** The stable codes, as a union. */
export type ProblemCode =
  | keyof typeof commonProblems
  | { [Room in keyof DeclaredProblems]: keyof DeclaredProblems[Room] }[keyof DeclaredProblems];

const kinds = new Map<string, ProblemKind>(Object.entries(commonProblems));

/** Adds what a room answers with besides. */
export function declareProblems(declared: Record<string, ProblemKind>): void {
  for (const [code, row] of Object.entries(declared)) kinds.set(code, row);
}

export function problemKindOf(code: ProblemCode): ProblemKind {
  const found = kinds.get(code);
  if (!found) throw new Error(`no room has declared the problem ${code}`);
  return found;
}
