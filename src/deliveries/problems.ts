import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const deliveryProblems = {
  'secrets-not-made-here': kind(
    422,
    'The secrets of the destination are not made here',
    'Change those that it takes: PATCH …/destinations/{destination} with the mask `secrets.<name>`.',
    'A rotation makes new secrets, which a webhook has. Those of other types of destinations are made elsewhere and given to them; some types take none. Nothing was changed.',
  ),
  'rotated-too-often': kind(
    409,
    'The secrets were rotated too often',
    'Wait until a former secret is over, or rotate with `overlapHours` 0, which ends all former ones at once.',
    'Each former secret that is still good signs every message, so there are ten at the most. Nothing was changed.',
    true,
  ),
  'deliveries-waiting': kind(
    409,
    'Deliveries wait for the destination',
    'Wait until they are delivered, or pass `cancelPending=true` to give them up.',
    'A destination that is deleted takes what waits for it along. Nothing was changed.',
    true,
  ),
  'delivery-pending': kind(
    409,
    'The delivery is not over',
    'Wait: it is attempted by itself at `nextAttemptTime`. POST …/destinations/{name}:enable tries all that waits there at once.',
    'Only what was delivered, or failed for good, can be sent again by hand. Nothing was changed.',
  ),
  'message-not-kept': kind(
    409,
    'The content of the message is no longer kept',
    'Read the records again: POST /read/v1/projects/{project}/integrations/{integration}/objects/{object}. To keep the content of what is delivered from now on, set `keepDays.messages` of the project to the days that it is wanted for.',
    'The project keeps no content of messages that were delivered (`keepDays.messages` is 0), or did not when this one was. Nothing was sent.',
  ),
  'destination-takes-records-only': kind(
    422,
    'The destination takes records only',
    'Name a destination of another type, such as a webhook.',
    'A table of a database has no place for what happened. Nothing was changed.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(deliveryProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    deliveryProblems: typeof deliveryProblems;
  }
}
