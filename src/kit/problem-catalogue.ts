/** One row of the catalogue: everything that is the same for each occurrence of a problem. */
export interface ProblemKind {
  status: number;
  title: string;
  /** Whether the same request may succeed later without a change, and may be sent again without doing anything twice. */
  retryable: boolean;
  /** An occurrence may differ: it depends on what failed. */
  varies?: true;
  /** What the caller can do, unless the occurrence says something more exact. */
  remedy: string;
  /** When it arises, for its page in docs/errors. */
  about: string;
}

const kind = (
  status: number,
  title: string,
  remedy: string,
  about: string,
  retryable = false,
): ProblemKind => ({
  status,
  title,
  retryable,
  remedy,
  about,
});

const varying = (...row: Parameters<typeof kind>): ProblemKind => ({ ...kind(...row), varies: true });

/** Every problem that this service answers with, by its stable code. The pages in docs/errors derive from it. */
export const problemKinds = {
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
    'Send JSON in UTF-8, not compressed, with the header `Content-Type: application/json`. The text of a manifest may be sent as `sourceYaml` in JSON, or as it is with `Content-Type: application/yaml`.',
    'The management, write and read surfaces take JSON, in UTF-8 and without a content encoding; the two calls that deploy a manifest take `application/yaml`, too. The proxy passes every content type.',
  ),
  'body-too-large': kind(
    413,
    'The body is too large',
    'Send less in one request; `detail` names the limit.',
    'The request body is over the limit of the endpoint: 1 MiB, 2 MiB for a manifest, and for a write `SVC_BODY_LIMIT_BYTES` (10 MiB unless configured otherwise).',
  ),
  unauthenticated: kind(
    401,
    'The credentials are missing or not known',
    'Send a valid API key in the header `X-Api-Key`.',
    'No key was sent, or the key is malformed, unknown, deleted or inactive, or the token is expired or not signed by a registered key.',
  ),
  'too-many-failures': kind(
    429,
    'Too many requests with wrong credentials',
    'Send a valid API key, or wait until `retryAfter`; requests with valid credentials are answered as ever.',
    'More requests with wrong credentials came from one address within a minute than `SVC_AUTH_FAILURES_PER_MINUTE` allows.',
    true,
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
    'Check the id or name in the path, and that it belongs to the project of the API key.',
    'The project, integration, installation, connection, operation or other thing does not exist, or belongs to another project or group. Both look the same on purpose.',
  ),
  'route-not-found': kind(
    404,
    'There is no such endpoint',
    'Compare method and path with the API reference at `/docs`.',
    'The method and path do not name an endpoint of this surface.',
  ),
  'object-not-in-manifest': kind(
    404,
    'The object is not declared',
    'Add the object to the integration in `svc.yaml` and deploy it.',
    'The write names an object that the latest revision of the integration does not declare under `write.objects`.',
  ),
  'already-exists': kind(
    409,
    'It already exists',
    'Change the existing one, or use another name.',
    'Something with the same unique name exists: a project name, an integration name, or an installation of the same integration for the same group.',
  ),
  conflict: kind(
    409,
    'The state changed meanwhile',
    'Read the current state and send the request again.',
    'Two changes of the same thing met; this one was not applied.',
    true,
  ),
  'record-busy': kind(
    409,
    'Earlier writes of the record are not done',
    'Send the same request again after `retryAfter`, or send it with `mode: "asynchronous"`: it is done when its turn comes.',
    'Writes of one record are done in the order in which they were accepted. A synchronous one waits 10 s for those before it: queued ones, or another synchronous one. They did not end in that time, so nothing was sent and nothing is kept of this request.',
    true,
  ),
  'idempotency-key-in-flight': kind(
    409,
    'The first request with this key is still being done',
    'Send the same request again after `retryAfter`; it gets the answer of the first.',
    'A synchronous write with the same `Idempotency-Key` was accepted and has not ended. This request did nothing. If the node that did the first one died, this lasts until its lease is over.',
    true,
  ),
  'idempotency-key-reused': kind(
    422,
    'The key stands for another request',
    'Use a new `Idempotency-Key` for a new request; repeat a request byte for byte.',
    'The same caller sent this `Idempotency-Key` within the last 7 days with another method, path or body. This request did nothing; `operationId` names what the key stands for.',
  ),
  'operation-in-progress': kind(
    409,
    'The operation is in progress',
    'Wait until its status is `success` or `failure`.',
    'What became of its records is not settled yet, so they cannot be resolved or sent again by hand.',
    true,
  ),
  'outcome-known': kind(
    422,
    'The outcome of the record is known',
    'Resolve only records whose `resolution` is `unknown`: GET …/operations/{id}/records.',
    'A resolution says what became of a record of unknown outcome. This record has an outcome, or was resolved the other way before. Nothing was recorded.',
  ),
  'outcome-unresolved': kind(
    422,
    'The outcome of some records is unknown',
    'Look at the records in the provider and settle them first: POST …/operations/{id}:resolve.',
    'An operation is repeated with the records that are known not to have been done. Those of unknown outcome, named in `records` by their index, might be done twice. Nothing was sent.',
  ),
  'nothing-to-retry': kind(
    422,
    'There is nothing to repeat',
    'Look at the outcomes: GET …/operations/{id}/records.',
    'No record of the operation failed or was resolved as `notApplied`, or it is not a write.',
  ),
  'manifest-invalid': kind(
    422,
    'The manifest is not valid',
    'Correct the lines that `issues` names and deploy again.',
    'The `svc.yaml` has errors. Each issue carries the line and column. Nothing was deployed.',
  ),
  'config-invalid': kind(
    422,
    'The config is not valid',
    'Correct what `issues` names.',
    'The config of an installation breaks a rule of ours, of the integration or of the provider. Nothing was saved.',
  ),
  'sample-read-failed': kind(
    422,
    'The provider refused the sample read',
    'Correct the config as the provider says, or pass `skipSampling=true` to save without the check.',
    'Before a read config is saved, one record of each object is read to see that the object and its fields exist. The provider answered that the request is wrong.',
  ),
  'no-usable-connection': kind(
    422,
    'The group has no usable connection',
    'Connect the group first: POST /v1/oauth-connect, or connections:generate for credentials at hand.',
    'The installation or the call needs a connection of this group to the provider of the integration, and there is none, or its credentials stopped working.',
  ),
  'connection-provider-mismatch': kind(
    422,
    'The connection is of another provider',
    'Name a connection whose provider is the one of the integration.',
    'The connection and the integration name different providers.',
  ),
  'provider-unknown': kind(
    422,
    'The provider is not in the catalogue',
    'Use a key of GET /v1/providers.',
    'The provider named does not exist in the catalogue. Keys are case-sensitive.',
  ),
  'provider-app-missing': kind(
    422,
    'No provider app is registered',
    'Register the OAuth client: POST /v1/projects/{project}/provider-apps.',
    'Connecting by OAuth needs the client id and secret that the builder got from the provider.',
  ),
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
  'secrets-not-made-here': kind(
    422,
    'The secrets of the destination are not made here',
    'Change them: PATCH …/destinations/{destination} with the mask `secrets.<name>`.',
    'A rotation makes new secrets, which a webhook has. Those of other types of destinations are made elsewhere and given to them. Nothing was changed.',
  ),
  'delivery-pending': kind(
    409,
    'The delivery is not over',
    'Wait: it is attempted by itself at `nextAttemptTime`, or as soon as its destination is enabled.',
    'Only what was delivered, or failed for good, can be sent again by hand. Nothing was changed.',
  ),
  'return-url-not-allowed': kind(
    422,
    'The return URL is not allowed',
    'Add its origin to `SVC_RETURN_URLS`.',
    'A return URL must have an origin from the operator’s list, so that nobody can be sent elsewhere after connecting.',
  ),
  'delete-not-enabled': kind(
    422,
    'Deletion is not enabled',
    'Set `deletionSettings.enabled` to true for this object in the installation’s config.',
    'Deletes are refused unless the installation’s config enables them for the object.',
  ),
  'ability-unsupported': kind(
    422,
    'The provider does not support this',
    'Leave the option away, or use a provider that supports it; `GET /v1/providers/{provider}` says which ones do.',
    'The request uses an option (associations, header forwarding, batch, delete, ifEmpty) or an action that the connector of this provider does not have.',
  ),
  'header-not-forwardable': kind(
    400,
    'The header may not be forwarded',
    'Leave the header away; the service sets it itself.',
    'Headers that carry credentials, the host or the framing of the message are never forwarded from a write request.',
  ),
  'record-too-large': kind(
    422,
    'The record is too large',
    'Send a smaller record; the limit is `SVC_RECORD_LIMIT_BYTES`.',
    'One record is over the limit of this service (1 MiB unless configured otherwise).',
  ),
  'write-not-configured': kind(
    422,
    'The integration does not write',
    'Add a `write` block to the integration in `svc.yaml` and deploy it.',
    'The integration declares no write action.',
  ),
  'read-not-configured': kind(
    422,
    'The integration does not read',
    'Add a `read` block to the integration in `svc.yaml` and deploy it.',
    'The integration declares no read action, or its provider cannot be read.',
  ),
  'object-not-in-config': kind(
    422,
    'The object is not configured to be read',
    'Add the object to `read.objects` of the installation’s config, or set `enabled: always` for it in `svc.yaml`.',
    'The integration declares the object, and the config of the installation does not have it. Nothing was read.',
  ),
  'read-disabled': kind(
    422,
    'Reading of the object is switched off',
    'Set `disabled: false` for the object in the installation’s config.',
    'The config of the installation switches reading of the object off. Nothing was read.',
  ),
  'no-destination': kind(
    422,
    'There is no destination for the records',
    'Name a destination in `svc.yaml` or in the config of the installation, and create it: POST …/destinations.',
    'What is read goes to a destination. The object names none, or one that does not exist or is disabled. Nothing was read.',
  ),
  'filter-invalid': kind(
    422,
    'The filter is not valid',
    'Correct what `issues` names.',
    'A filter names a field that the object does not have at the provider, or a value that cannot be compared. The provider was not asked.',
  ),
  'provider-refused': kind(
    422,
    'The provider refused the record',
    'Correct the record as `provider.message` says.',
    'The provider answered that it will not accept the record. Nothing was changed there.',
  ),
  'installation-not-found': kind(
    404,
    'There is no installation',
    'Create an installation of this integration for the group first.',
    'The group has no installation of this integration, or the installation belongs to another project or group.',
  ),
  'proxy-disabled': kind(
    403,
    'The proxy is not enabled',
    'Set `proxy.enabled: true` for the integration in `svc.yaml` and deploy it; the installation’s config must not disable it.',
    'Calls through the proxy need the integration’s `proxy.enabled`, and an installation may switch it off.',
  ),
  'proxy-request-invalid': kind(
    400,
    'The proxy request is not complete',
    'Send `x-svc-proxy-version: 1`, `x-svc-project-id`, `x-api-key`, and either `x-svc-installation-id` or both `x-svc-integration-name` and `x-svc-group-ref`.',
    'A required header is missing, repeated or not valid, or the request target is not a path.',
  ),
  'proxy-upgrade-refused': kind(
    501,
    'The proxy does not change protocols',
    'Call the provider without `Upgrade`; WebSockets do not pass.',
    'The proxy passes HTTP requests and their answers. A request that would turn the connection into something else is not sent.',
  ),
  'proxy-method-refused': kind(
    405,
    'The proxy does not pass this method',
    'Use another method; CONNECT and TRACE do not pass.',
    'CONNECT would open a tunnel and TRACE would show the credentials of the connection, so neither is sent.',
  ),
  'credentials-unreadable': kind(
    500,
    'The stored credentials cannot be opened',
    'Tell the operator of this service: the master keys of a node are not those that sealed the credentials, or the row was changed by hand. Nothing was sent.',
    'No configured master key opens the credentials of the connection in their row.',
    true,
  ),
  'connection-bad-credentials': kind(
    422,
    'The connection’s credentials no longer work',
    'Let the customer connect again: PATCH …/connections/{id}:oauth-update.',
    'The provider rejected the connection’s credentials, or their refresh. Calls stop until they are renewed.',
  ),
  'provider-rate-limited': kind(
    429,
    'The provider’s rate limit is reached',
    'Wait until `retryAfter`.',
    'The provider answered that too many requests were made.',
    true,
  ),
  'provider-unreachable': varying(
    502,
    'The provider cannot be reached',
    'Try again later.',
    'The connection to the provider failed, or its answer could not be understood. Of a write, nothing was done.',
    true,
  ),
  'provider-timeout': varying(
    504,
    'The provider did not answer in time',
    'Look whether it was done before you repeat it: of a write, the operation up and, once it has ended, the record in the provider. What only reads may be repeated.',
    'The provider did not answer within the limit for one call. What was asked for may be done, or may still be done later. An update or a delete may be repeated (`retryable` is true), a create may not.',
  ),
  'outcome-unknown': varying(
    502,
    'The outcome is not known',
    'Look the operation up: while it is in progress, the record is still being looked for. Once it has ended, look at the record in the provider and settle it: POST …/operations/{id}:resolve.',
    'The request was sent, but its answer was lost. The record may have been written or not; it was not sent again. An update or a delete may be repeated (`retryable` is true), a create may not.',
  ),
  'egress-refused': kind(
    502,
    'The address is not allowed',
    'Ask the operator to allow the address (`SVC_EGRESS_ALLOW`).',
    'The address that was to be called is private, local or otherwise not allowed for outgoing calls.',
  ),
  'database-unavailable': kind(
    503,
    'The database is not reachable',
    'Try again in a few seconds.',
    'The service cannot reach its database. Nothing was accepted. It recovers by itself.',
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
export type ProblemCode = keyof typeof problemKinds;
