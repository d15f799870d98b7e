import { declareProblems } from '../../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../../kit/problem-kind.ts';

export const writeProblems = {
  'write-not-configured': kind(
    422,
    'The integration does not write',
    'Add a `write` block to the integration in `svc.yaml` and deploy it.',
    'The integration declares no write action.',
  ),
  'delete-not-enabled': kind(
    422,
    'Deletion is not enabled',
    'Set `deletionSettings.enabled` to true for this object in the installation’s config.',
    'Deletes are refused unless the installation’s config enables them for the object.',
  ),
  'header-not-forwardable': kind(
    400,
    'The header may not be forwarded',
    'Leave the header away; the service sets it itself.',
    'Headers that carry credentials, the host or the framing of the message are never forwarded from a write request.',
  ),
  'not-unique': kind(
    422,
    'The field does not tell records apart',
    'Name a field in `upsertBy` whose values the provider keeps unique: a unique property at HubSpot, an external id at Salesforce.',
    'An upsert was asked for by a field that may hold the same value in several records, or that the object does not have.',
  ),
  'record-repeated': kind(
    422,
    'A record stands twice in the batch',
    'Send its changes in successive calls, or leave `batchPolicy.allOrNone` away: then they go out one after the other.',
    'With `allOrNone` a batch is one call of the provider, which takes no record twice. Nothing was sent.',
  ),
  'record-too-large': kind(
    422,
    'The record is too large',
    'Send a smaller record; the limit is `SVC_RECORD_LIMIT_BYTES`.',
    'One record is over the limit of this service (1 MiB unless configured otherwise).',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(writeProblems);

declare module '../../kit/problem-kind.ts' {
  interface DeclaredProblems {
    writeProblems: typeof writeProblems;
  }
}
